"""The commands as data: what the reference page and the shell completions are made from.

Walks the parsers, so neither can say anything that the program does not do.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from strobe.cli.parser import Parser, build


@dataclass(frozen=True, slots=True)
class Option:
    """An option or argument of a command."""

    flags: tuple[str, ...]
    metavar: str
    help: str
    choices: tuple[str, ...]
    is_repeatable: bool

    @property
    def takes_value(self) -> bool:
        return bool(self.metavar)


@dataclass(frozen=True, slots=True)
class Command:
    """A command by its words, such as ("run", "ls")."""

    words: tuple[str, ...]
    summary: str
    detail: str
    examples: tuple[str, ...]
    options: tuple[Option, ...]
    subcommands: tuple[str, ...]

    @property
    def name(self) -> str:
        return " ".join(("strobe", *self.words))


def commands() -> list[Command]:
    """Return every command, a group before what it holds."""
    return list(_walk(build(None), ()))


def _walk(parser: argparse.ArgumentParser, words: tuple[str, ...]) -> Iterator[Command]:
    children = _children(parser)
    description, _, detail = (parser.description or "").partition("\n\n")
    epilog = (parser.epilog or "").splitlines()
    yield Command(
        words=words,
        summary=description,
        detail=detail,
        examples=tuple(line.strip() for line in epilog if line.startswith("  ")),
        options=tuple(_options(parser)),
        subcommands=tuple(children),
    )
    for name, child in children.items():
        yield from _walk(child, (*words, name))


def _children(parser: argparse.ArgumentParser) -> dict[str, Parser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for action in parser._actions:
        if isinstance(action, (argparse._SubParsersAction, argparse._HelpAction)) or action.help == argparse.SUPPRESS:
            continue
        choices = tuple(str(choice) for choice in action.choices or ())
        shown = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        takes_value = action.nargs != 0
        yield Option(
            flags=tuple(action.option_strings),
            metavar=("|".join(choices) or shown) if takes_value else "",
            help=(action.help or "").replace("%%", "%"),
            choices=choices,
            is_repeatable=isinstance(action, argparse._AppendAction) or action.nargs in ("*", "+"),
        )
