"""`strobe agent`: whether the companion process lives, and stopping it."""

from __future__ import annotations

from argparse import Namespace

from strobe.agent.lifecycle import Status, status, stop
from strobe.cli.parser import Subparsers, add_command, add_group
from strobe.cli.render import Screen, duration_text
from strobe.cli.target import home_of


def register(subparsers: Subparsers) -> None:
    group = add_group(
        subparsers,
        "agent",
        summary="the companion process that watches runs",
        examples=["strobe agent status", "strobe agent stop"],
    )
    add_command(
        group,
        "status",
        _status,
        summary="tell whether an agent serves the home on this machine",
        examples=["strobe agent status", "strobe agent status --json"],
        detail="Without a live run there is none: that is no fault. Exits with 1 only if none can be started.",
    )
    add_command(
        group,
        "stop",
        _stop,
        summary="ask the agent to go, and wait until it has",
        examples=["strobe agent stop", "STROBE_AGENT=off python train.py"],
        detail="Nothing is lost; the next init() starts one again. To do without, set agent=off.",
    )


def _status(args: Namespace) -> int:
    screen = Screen(args)
    found = status(home_of(args))
    if args.json:
        screen.json(_fields(found))
    elif found.running:
        screen.out(f"running  process {found.pid}, strobe {found.version}, for {duration_text(found.uptime_s)}")
        screen.note(f"log: {found.log}")
    else:
        screen.out(f"not running  {found.problem or 'the next run starts it'}")
    return 1 if found.problem else 0


def _stop(args: Namespace) -> int:
    screen = Screen(args)
    home = home_of(args)
    before = status(home)
    stopped = stop(home)
    if args.json:
        screen.json({"stopped": stopped, "pid": before.pid})
    elif not stopped:
        screen.warn(f"process {before.pid} is still there; it may be waiting for a disk (log: {before.log})")
    else:
        screen.note(f"stopped process {before.pid}" if before.running else "there was none")
    return 0 if stopped else 1


def _fields(found: Status) -> dict[str, object]:
    return {name: getattr(found, name) for name in found.__struct_fields__}
