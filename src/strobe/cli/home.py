"""`strobe home`: where everything lies."""

from __future__ import annotations

from argparse import Namespace

from strobe.cli.parser import Subparsers, add_command
from strobe.cli.render import Screen
from strobe.cli.target import home_of, settings_of


def register(subparsers: Subparsers) -> None:
    add_command(
        subparsers,
        "home",
        _home,
        summary="print where runs, artifacts and the trash lie",
        examples=["strobe home", 'cd "$(strobe home)"'],
        detail="Only the path goes to stdout. STROBE_HOME, or `home` in a settings file, moves it.",
    )


def _home(args: Namespace) -> int:
    screen = Screen(args)
    home, origin = home_of(args), settings_of(args).origin("home")
    if args.json:
        places = {name: getattr(home, name) for name in ("runs", "artifacts", "active", "agent", "trash")}
        screen.json({"home": str(home.path), "origin": origin, **{name: str(place) for name, place in places.items()}})
    else:
        screen.out(str(home.path))
        if args.verbose:
            screen.note(f"from {origin}; {'exists' if home.path.is_dir() else 'not there yet'}")
    return 0
