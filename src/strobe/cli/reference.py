"""docs/cli-reference.md, written from the parsers: `python -m strobe.cli.reference > docs/cli-reference.md`.

It is not argparse's own help text, which differs between Python versions and terminal widths.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from strobe.cli.describe import Command, Option, commands

_INTRODUCTION = """\
# Command reference

Every command, with every option. This page is written from the program itself by
`python -m strobe.cli.reference > docs/cli-reference.md`, and a test fails when the two differ. For what the commands
are good for, what `--json` prints and what exit codes mean, see [cli.md](cli.md).

`-h` works everywhere. Options listed under *everywhere* are those that all commands share.
"""
_EVERYWHERE = ("--home", "--json", "-v", "-q")


def markdown() -> str:
    """Return the page."""
    found = commands()
    shared = {option.flags: option for command in found for option in command.options if _is_shared(option)}
    parts = [_INTRODUCTION, "## Everywhere\n", *_table(list(shared.values())), ""]
    for command in found:
        if command.words:
            parts += _section(command)
    return "\n".join(parts).rstrip() + "\n"


def _section(command: Command) -> Iterator[str]:
    yield f"{'##' if len(command.words) == 1 else '###'} {command.name}\n"
    yield command.summary + ("\n" if not command.detail else "\n\n" + command.detail + "\n")
    if command.subcommands:
        yield "Commands: " + ", ".join(f"`{name}`" for name in command.subcommands) + "\n"
    own = [option for option in command.options if not _is_shared(option)]
    if own:
        yield from _table(own)
        yield ""
    yield "```console"
    yield from (f"$ {example}" for example in command.examples)
    yield "```\n"


def _table(options: list[Option]) -> Iterator[str]:
    yield "| option | meaning |"
    yield "|---|---|"
    for option in options:
        name = ", ".join(option.flags)
        shown = f"{name} {option.metavar}".strip() + (" …" if option.is_repeatable and not option.flags else "")
        yield f"| `{shown.replace('|', chr(92) + '|')}` | {option.help.replace('|', chr(92) + '|')} |"


def _is_shared(option: Option) -> bool:
    return bool(option.flags) and option.flags[0] in _EVERYWHERE


if __name__ == "__main__":
    sys.stdout.write(markdown())
