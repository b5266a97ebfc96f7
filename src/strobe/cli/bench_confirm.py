"""Measuring rows of a comparison again (`--confirm`), for `strobe bench compare` and `strobe bench history`.

Finds the code of both sides, checks it out, and keeps what is measured; when a row is decided is not known here.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from strobe.bench.compare import Comparison, Measure, Pair, Row, Side
    from strobe.bench.compare.origin import Origin
    from strobe.bench.compare.remeasure import Code
    from strobe.bench.records import Record
    from strobe.cli.bench_progress import TurnLine
    from strobe.cli.render import Screen

    _Sides = TypeVar("_Sides", Pair, Row)


def add_confirmation(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Let a command measure rows again."""
    group = parser.add_argument_group("measuring again")
    group.add_argument("--confirm", action="store_true", help=meaning)
    for side in "ab":
        group.add_argument(
            f"--code-{side}",
            metavar="CODE",
            help=f"of {side.upper()}: a commit, else a python (its path, or python3), or . for what is here "
            "(default: the commit of its results)",
        )
    group.add_argument("--no-track", action="store_true", help="keep what it measures only in the file, not as runs")


def measurable_here(args: argparse.Namespace, rows: Sequence[_Sides], screen: Screen) -> list[_Sides]:
    """Return the rows whose sides can be measured again on this machine, and name the others."""
    from strobe.bench.compare.pairing import row_name
    from strobe.bench.compare.remeasure import why_not_here

    origin = _origin(args)
    found = []
    for row in rows:
        if reason := why_not_here(row.a, row.b, origin.here) or origin.why_unknown(row.a, row.b):
            screen.note(f"not measured again: {row_name(row.b)}: {reason}")
        else:
            found.append(row)
    return found


def confirm_rows(
    args: argparse.Namespace, first: Comparison, rows: Sequence[Row], screen: Screen, ends: ExitStack
) -> Comparison:
    """Return a comparison with rows of it measured again until they are decided.

    What was measured is kept when `ends` ends, and that may fail: what it led to is to be shown before.
    """
    from strobe.bench.compare import confirm

    measure, line = ends.enter_context(measuring(args, [(row.a, row.b) for row in rows], screen))
    found = confirm(first, measure, rows=rows, report=line.note, progress=line.show_turn)
    line.clear()
    return found


@contextmanager
def measuring(
    args: argparse.Namespace, sides: Sequence[tuple[Record, Record]], screen: Screen
) -> Iterator[tuple[Measure, TurnLine]]:
    """Prepare the code of both sides for as long as it is needed, and yield what measures a row of either.

    Both sides are kept as results of one session: on disk after each repeat, in the end, also when interrupted, in the
    file and as runs.
    """
    from strobe.bench.compare.confirmation import Takes
    from strobe.bench.compare.origin import HERE
    from strobe.bench.compare.remeasure import borrowed_home, measure_row
    from strobe.cli.bench_keep import keeping, upload
    from strobe.cli.bench_progress import TurnLine
    from strobe.cli.bench_signals import take_as_ctrl_c
    from strobe.cli.target import home_of

    take_as_ctrl_c("SIGTERM", "SIGHUP")
    origin = _origin(args)
    words: dict[tuple[Side, str], str] = {}
    for a, b in sides:
        words["A", a.id], words["B", b.id] = origin.words(a, b)
    wanted = list(dict.fromkeys(words.values()))
    # What lies here needs no checkout, unless another commit is measured beside it: both are to be prepared alike.
    is_all_here = len(wanted) == 1 and origin.is_here(*wanted)
    with ExitStack() as stack:
        session = stack.enter_context(keeping(args, screen))
        # One checkout per commit: rows of one side may come from several.
        codes = {word: stack.enter_context(_code(HERE if is_all_here else word, origin)) for word in wanted}
        home = stack.enter_context(borrowed_home(home_of(args).path))
        takes = Takes()

        def measure(side: Side, record: Record, n: int) -> Record:
            found = measure_row(record, n, codes[words[side, record.id]], home)
            session.note(takes.add(side, record, found))
            return found

        line = TurnLine(screen)
        try:
            yield measure, line
        finally:
            line.clear()
            kept = session.keep(takes.records)
    upload(args, kept, screen)


@contextmanager
def _code(word: str, origin: Origin) -> Iterator[Code]:
    from pathlib import Path

    from strobe.bench.compare.origin import HERE
    from strobe.bench.compare.remeasure import Code, checked_out, is_python, repository_of

    if word == HERE:
        yield Code()
    elif origin.commit_of(word) is None and is_python(word):  # a branch may be named as a program is
        yield Code(python=word)
    else:
        with checked_out(word, repository_of(Path.cwd())) as code:
            yield code


def _origin(args: argparse.Namespace) -> Origin:
    from functools import lru_cache
    from pathlib import Path

    from strobe.bench.compare.origin import Origin
    from strobe.bench.compare.remeasure import commit_of
    from strobe.bench.machine import describe

    # Many rows have the same few commits, and each question is a process.
    return Origin(args.code_a, args.code_b, describe(source=Path.cwd()), lru_cache(commit_of))
