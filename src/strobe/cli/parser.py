"""How the commands' parsers are made: which groups exist, what every command shares, how a typo is answered.

Only the group that was typed is imported; the others stand in the help by name. Knows argparse, never what a
command does.
"""

from __future__ import annotations

import argparse
import importlib
import math
import threading
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any, NoReturn

Handler = Callable[[argparse.Namespace], int]
#: what argparse hands out for adding commands to (its own type is private, generic only for type checkers)
Subparsers = Any

#: name → (module of strobe.cli, what it is for). A group whose module is not there yet is left out.
GROUPS: dict[str, tuple[str, str]] = {
    "run": ("run", "list, show, compare, follow, export and remove runs"),
    "show": ("show", "show one run: state, config, metrics with their course, files"),
    "du": ("du", "disk use per project and run, and the quota"),
    "home": ("home", "where everything lies"),
    "journal": ("journal", "verify, repair and dump journal files"),
    "config": ("config", "settings, and where each value comes from"),
    "agent": ("agent", "the companion process that watches runs"),
    "ui": ("ui", "serve the runs of this home to this machine, live"),
    "import": ("import_", "bring runs of wandb and TensorBoard into the home"),
    "sync": ("sync", "upload runs to a server: offline, crashed and running ones"),
    "server": ("server", "receive runs from many machines; its users, keys and teams"),
    "login": ("login", "check a key against a server and store it"),
    "logout": ("logout", "forget the server and its key"),
    "swarm": ("swarm", "peers without a server: a DHT node, its records, and experts"),
    "bench": ("bench", "proxy workloads, load profiles and swarm benchmarks"),
    "doctor": ("doctor", "check this machine and home, with the fix for each fault"),
    "demo": ("demo", "train small models and watch them in the browser"),
    "completion": ("completion", "print a shell completion script"),
}


class Parser(argparse.ArgumentParser):
    """argparse's parser, answering a mistyped command with the nearest one."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        # argparse has no public place for this before Python 3.14 (suggest_on_error).
        if action.choices is not None and value not in action.choices:
            names = [str(choice) for choice in action.choices]
            hint = _nearest(str(value), names)
            self.error(f"{_kind(action)} {str(value)!r} is not one of {', '.join(names)}{hint}")

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"strobe: {message}\nHelp: {self.prog} -h\n")


def _kind(action: argparse.Action) -> str:
    if isinstance(action, argparse._SubParsersAction):
        return "command"
    return action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)


def _nearest(value: str, names: Sequence[str]) -> str:
    import difflib

    found = difflib.get_close_matches(value, names, n=1, cutoff=0.5)
    return f"; did you mean `{found[0]}`?" if found else ""


def available_groups() -> dict[str, tuple[str, str]]:
    """Return the groups whose module is installed."""
    return {name: entry for name, entry in GROUPS.items() if find_spec(f"strobe.cli.{entry[0]}") is not None}


def build(arguments: Sequence[str] | None) -> Parser:
    """Return the parser for these arguments: with the one group they name, or with all when None."""
    parser = Parser(
        prog="strobe",
        description="Record, read and compare training runs.",
        epilog=_epilog(["strobe demo", "strobe run show latest"]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    from strobe._version import __version__

    parser.add_argument("-V", "--version", action="version", version=f"strobe {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", title="commands", parser_class=Parser)
    parser.set_defaults(help_of=parser)
    wanted = None if arguments is None else next((word for word in arguments if not word.startswith("-")), "")
    for name, (module, summary) in available_groups().items():
        if wanted is None or wanted == name:
            importlib.import_module(f"strobe.cli.{module}").register(subparsers)
        else:
            subparsers.add_parser(name, help=summary)
    return parser


def add_group(
    subparsers: Subparsers, name: str, *, summary: str, examples: Sequence[str], detail: str = ""
) -> Subparsers:
    """Add `strobe NAME …`, a command that only holds others; return what its commands are added to."""
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=_sentence(summary) + (f"\n\n{detail}" if detail else ""),
        epilog=_epilog(examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(help_of=parser)
    return parser.add_subparsers(metavar="COMMAND", title="commands", parser_class=Parser)


def add_command(
    subparsers: Subparsers,
    name: str,
    func: Handler,
    *,
    summary: str,
    examples: Sequence[str],
    detail: str = "",
    json: bool = True,
) -> argparse.ArgumentParser:
    """Add one command with the options that all share, and its examples under `-h`."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=summary,
        description=_sentence(summary) + (f"\n\n{detail}" if detail else ""),
        epilog=_epilog(examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(func=func)
    shared = parser.add_argument_group("everywhere")
    shared.add_argument("--home", metavar="DIR", help="the home to work on (default: $STROBE_HOME, else the user's)")
    if json:
        shared.add_argument("--json", action="store_true", help="print JSON with a stable schema (docs/cli.md)")
    loudness = shared.add_mutually_exclusive_group()
    loudness.add_argument("-v", "--verbose", action="store_true", help="say more; tracebacks with errors")
    loudness.add_argument("-q", "--quiet", action="store_true", help="nothing on stderr but errors")
    return parser


def seconds(text: str) -> float:
    """Parse how long to wait: argparse's `type` of an option."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is no time to wait; give a number of seconds above 0")
    return value


def _sentence(summary: str) -> str:
    return summary[:1].upper() + summary[1:] + "."


def _epilog(examples: Sequence[str]) -> str:
    return "examples:\n" + "\n".join(f"  {example}" for example in examples)
