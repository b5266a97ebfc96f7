"""`strobe doctor`: what is wrong here, and how to put it right."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict

from strobe.cli.parser import Subparsers, add_command
from strobe.cli.render import Screen


def register(subparsers: Subparsers) -> None:
    add_command(
        subparsers,
        "doctor",
        _doctor,
        summary="check this machine and home, with the fix for each fault; exit code 1 if one fails",
        examples=["strobe doctor", "strobe doctor --json"],
    )


def _doctor(args: Namespace) -> int:
    from strobe.api.doctor import FAIL, examine
    from strobe.cli.agent_check import check_agent

    screen = Screen(args)
    checks = [*examine(args.home), check_agent(args)]
    if args.json:
        screen.json([asdict(check) for check in checks])
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            screen.out(f"{screen.paint_states(f'{check.status:4}')}  {check.name:{width}}  {check.detail}")
            if check.fix:
                screen.out(f"{'':4}  {'':{width}}  → {check.fix}")
    return 1 if any(check.status == FAIL for check in checks) else 0
