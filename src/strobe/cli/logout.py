"""`strobe logout`: forget the server and its key."""

from __future__ import annotations

from argparse import Namespace

from strobe.cli.parser import Subparsers, add_command
from strobe.cli.render import Screen
from strobe.settings import resolve
from strobe.settings.settings import working_directory


def register(subparsers: Subparsers) -> None:
    add_command(
        subparsers,
        "logout",
        _logout,
        summary="forget the server and its key",
        examples=["strobe logout", "strobe logout --json"],
        detail="New runs stay on this machine. The key itself stays valid: `strobe server key revoke` ends it.",
    )


def _logout(args: Namespace) -> int:
    from strobe.settings.change import remove_setting

    screen, cwd = Screen(args), working_directory()
    gone = [remove_setting(name, cwd=cwd) for name in ("api_key", "base_url", "login_entity")]
    was_set = any(change.was_set for change in gone)
    if args.json:
        screen.json({"was_set": was_set, "file": str(gone[0].path)})
    else:
        screen.note(f"the key and the server were {'taken out of' if was_set else 'not in'} {gone[0].path}")
    settings = resolve({})
    for name in ("api_key", "base_url"):
        if getattr(settings, name) is not None:
            screen.warn(f"{name} is still set by {settings.origin(name)}")
    return 0
