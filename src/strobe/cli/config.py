"""`strobe config`: every setting, its value, where that comes from, and how to change it in a file."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from strobe.cli.parser import Parser, Subparsers, add_command
from strobe.cli.render import Screen, value_text
from strobe.errors import SettingsError
from strobe.settings import Resolved, resolve
from strobe.settings.names import Name, known_name
from strobe.settings.settings import shown, working_directory

_SHARED = frozenset({"home", "json", "verbose", "quiet"})


def register(subparsers: Subparsers) -> None:
    config = add_command(
        subparsers,
        "config",
        _list,
        summary="settings, and where each value comes from",
        examples=["strobe config --explain", "strobe config set project my-project --project"],
        detail="A value comes from a keyword, STROBE_*, WANDB_*, strobe.toml or [tool.strobe], the user's file, in "
        "this order (docs/settings.md).",
    )
    config.add_argument("-e", "--explain", action="store_true", help="with the origin and meaning of each setting")
    config.add_argument("-c", "--changed", action="store_true", help="only settings that are not at their default")
    verbs = config.add_subparsers(metavar="COMMAND", title="commands", parser_class=Parser)
    _add_get(verbs)
    _add_set(verbs)
    _add_unset(verbs)


def _add_get(verbs: Subparsers) -> None:
    get = add_command(
        verbs,
        "get",
        _get,
        summary="print the value of one setting",
        examples=["strobe config get home", "strobe config get stats_interval_s --json"],
        detail="Lists are printed with commas, a setting without a value as an empty line, a secret as ****.",
    )
    get.add_argument("name", metavar="NAME", help="a setting, by Strobe's or wandb's name")
    _inherit(get)


def _add_set(verbs: Subparsers) -> None:
    set_ = add_command(
        verbs,
        "set",
        _set,
        summary="set one setting in the user's file, or the project's",
        examples=["strobe config set console off", "strobe config set api_key -  < key.txt"],
        detail="Other settings and comments in the file stay. A secret is asked for when VALUE is left out.",
    )
    set_.add_argument("name", metavar="NAME", help="a setting, by Strobe's or wandb's name")
    set_.add_argument("value", metavar="VALUE", nargs="?", help="its value; - reads it from stdin")
    _add_project(set_)
    _inherit(set_)


def _add_unset(verbs: Subparsers) -> None:
    unset = add_command(
        verbs,
        "unset",
        _unset,
        summary="take one setting out of the user's file, or the project's",
        examples=["strobe config unset console", "strobe config unset project --project"],
    )
    unset.add_argument("name", metavar="NAME", help="a setting, by Strobe's or wandb's name")
    _add_project(unset)
    _inherit(unset)


def _add_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--project", action="store_true", help="the project's file (nearest strobe.toml or pyproject.toml with ours)"
    )


def _inherit(parser: argparse.ArgumentParser) -> None:
    """Let `strobe config --json get x` mean `strobe config get x --json`: no default hides what came before."""
    for action in parser._actions:  # argparse has no public way to them
        if action.dest in _SHARED:
            action.default = argparse.SUPPRESS


# -- commands


def _list(args: Namespace) -> int:
    screen = Screen(args)
    rows = _settings(args).explain()
    if args.changed:
        rows = [row for row in rows if row[2] != "default"]
    if args.json:
        names = ("name", "value", "origin", "doc")
        screen.json([dict(zip(names, (name, _jsonable(value), *rest), strict=True)) for name, value, *rest in rows])
    elif args.explain:
        cells = [[name, _text(value), origin, doc] for name, value, origin, doc in rows]
        screen.table(["SETTING", "VALUE", "ORIGIN", "MEANING"], cells)
    else:
        screen.table(["SETTING", "VALUE"], [[name, _text(value)] for name, value, *_ in rows])
    return 0


def _get(args: Namespace) -> int:
    screen = Screen(args)
    known, settings = known_name(args.name), _settings(args)
    value = shown(known.field, getattr(settings, args.name))
    origin = settings.origin(args.name)
    if args.json:
        screen.json({"name": args.name, "value": _jsonable(value), "origin": origin})
    else:
        screen.out(_text(value))
        if args.verbose:
            screen.note(f"from {origin}")
    return 0


def _set(args: Namespace) -> int:
    from strobe.settings.change import write_setting

    screen = Screen(args)
    text = _given(args.value, known_name(args.name))
    done = write_setting(args.name, text, project=args.project, cwd=working_directory())
    if args.json:
        screen.json({"name": done.name, "value": _jsonable(done.value), "file": str(done.path)})
    else:
        screen.note(f"{done.name} = {_text(done.value)} in {done.path}")
    if done.decided_by is not None:
        screen.warn(f"{done.name} is decided by {done.decided_by}, which is stronger than {done.path}")
    return 0


def _unset(args: Namespace) -> int:
    from strobe.settings.change import remove_setting

    screen = Screen(args)
    done = remove_setting(args.name, project=args.project, cwd=working_directory())
    if args.json:
        screen.json({"name": done.name, "was_set": done.was_set, "file": str(done.path)})
    else:
        screen.note(f"{done.name} {'taken out of' if done.was_set else 'was not in'} {done.path}")
    return 0


# -- parts


def _settings(args: Namespace) -> Resolved:
    return resolve({"home": args.home} if args.home else {})


def _given(value: str | None, known: Name) -> str:
    if value == "-":
        return sys.stdin.readline().rstrip("\r\n")
    if value is not None:
        return value
    if known.field.secret and sys.stdin.isatty():
        import getpass

        return getpass.getpass(f"{known.field.name}: ")
    raise SettingsError(f"no value given for {known.field.name}; write it after the name, or - to read it from stdin")


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value) if isinstance(value, Path) else value_text(value)


def _jsonable(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
