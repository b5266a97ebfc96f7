"""`strobe bench compare`: is B faster than A?

Parses, calls strobe.bench.compare, prints; decides nothing itself.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from strobe.cli.bench_confirm import add_confirmation, confirm_rows, measurable_here
from strobe.cli.bench_gate import gate
from strobe.cli.bench_table import add_results, stored_results
from strobe.cli.parser import Subparsers, add_command

if TYPE_CHECKING:
    from strobe.bench.compare import Comparison, Pairs, Row
    from strobe.bench.records import Record
    from strobe.cli.render import Screen


#: fewer trials of the self-test are too few to break a promise, whatever they show
_MIN_TRIALS = 20


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "compare",
        _compare,
        summary="say which rows of B are faster or slower than those of A, and how sure that is",
        detail=(
            "A and B are results files, commits, ids, or `previous` and `latest` sessions. Rows of the same\n"
            "benchmark, version and batch on the same machine are compared. Exit code: 0 nothing is worse, 1 a row\n"
            "is slower, fails, is incorrect or misses its latency limit, 2 nothing could be judged, 3 with --strict:\n"
            "a row is inconclusive, has no speed in A, or is of A and not in B.\n"
            "See docs/bench-compare.md."
        ),
        examples=[
            "strobe bench compare",
            "strobe bench compare main HEAD --confirm",
            "strobe bench compare main.jsonl branch.jsonl --markdown > comment.md",
            "strobe bench compare latest --implementations",
            "strobe bench compare laptop.jsonl server.jsonl --systems",
        ],
    )
    parser.add_argument("a", nargs="?", default=None, metavar="A", help="the base (default: previous)")
    parser.add_argument("b", nargs="?", default=None, metavar="B", help="what is compared with it (default: latest)")
    parser.add_argument(
        "--implementations", action="store_true", help="within A (default: latest): each Optimized row against OOTB"
    )
    machines = parser.add_mutually_exclusive_group()
    machines.add_argument("--systems", action="store_true", help="A and B are two machines, which is what is compared")
    machines.add_argument(
        "--machine",
        metavar="NAME",
        help="results of this machine only: its host, processor or the beginning of its fingerprint",
    )
    _add_rule(parser)
    add_confirmation(parser, "measure inconclusive rows again, both sides in turns, at least 10 repeats each")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="a comment for a pull request, at most 20 lines")
    form.add_argument("--self-test", action="store_true", help="prove by simulation what is promised here, and stop")
    parser.add_argument(
        "--link",
        metavar="URL",
        help="of --markdown: where all results are (default: the server's page, if there is one)",
    )
    parser.add_argument(
        "--trials", type=int, default=200, metavar="N", help="of each promise, 20 or more (default: 200)"
    )
    add_results(parser)


def _add_rule(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what it takes")
    group.add_argument(
        "--alpha", type=float, default=0.05, metavar="P", help="chance of any false difference (default: 0.05)"
    )
    group.add_argument(
        "--threshold", type=float, default=3.0, metavar="PERCENT", help="smaller differences do not matter (default: 3)"
    )
    group.add_argument(
        "--strict",
        action="store_true",
        help="exit code 3 when a row stays inconclusive, has no speed, or is not compared",
    )


@gate
def _compare(args: argparse.Namespace) -> int:
    from strobe.bench.compare import History, Rule, compare
    from strobe.bench.compare.pairing import of_machine
    from strobe.cli import FAILURE, INTERRUPTED, OK, PARTIAL
    from strobe.cli.render import Screen
    from strobe.errors import UsageError

    screen = Screen(args)
    if args.self_test:
        return _self_test(args, screen)
    if not 0 < args.alpha < 1 or not args.threshold >= 0:
        raise UsageError(f"--alpha lies between 0 and 1, --threshold is not negative: {args.alpha}, {args.threshold}")
    if args.systems and args.confirm:
        raise UsageError("--confirm measures on this machine, and --systems compares two; leave one of them out")
    # Who confirms looks twice: each look has half of alpha.
    rule = Rule(alpha=args.alpha, threshold=args.threshold / 100, num_occasions=2 if args.confirm else 1)
    records = stored_results(args)
    a, b = _sides(args, records, screen)
    if args.machine is not None:
        a, b = of_machine(args.machine, a, b)
    # What one file says twice, or what a file has of the home's, is one result; those before there were ids are the
    # home's alone, since nobody could tell.
    named = [one for one in (*a, *b) if one.id]
    found = compare(_pairs(args, a, b), history=History([*records, *named]), rule=rule)
    with ExitStack() as ends:
        if args.confirm and (again := measurable_here(args, found.undecided, screen)):
            found = confirm_rows(args, found, again, screen, ends)
        _print(args, found, screen)
    if found.is_interrupted:
        return INTERRUPTED
    # Of two systems one is the slower, and that is no fault; to be wrong is.
    is_bad = found.is_broken if args.systems else found.is_worse
    return FAILURE if is_bad else PARTIAL if args.strict and found.is_open else OK


def _sides(args: argparse.Namespace, records: list[Record], screen: Screen) -> tuple[list[Record], list[Record]]:
    """Return the records of A and of B; implementations are compared within A."""
    from strobe.bench.compare.remeasure import commit_of
    from strobe.bench.compare.selection import select
    from strobe.errors import UsageError

    def side(word: str) -> list[Record]:
        return select(word, records, commit_of, report=screen.note)

    if not args.implementations:
        return side(args.a or "previous"), side(args.b or "latest")
    if args.b is not None:
        raise UsageError(f"--implementations compares within one side, there are two: {args.a}, {args.b}")
    return side(args.a or "latest"), []


def _pairs(args: argparse.Namespace, a: list[Record], b: list[Record]) -> Pairs:
    from strobe.bench.compare import pair, pair_implementations
    from strobe.errors import UsageError

    if args.implementations:
        found = pair_implementations(a)
        if not found.pairs:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in found.left_out[:3])
            raise UsageError(f"no Optimized row has its OOTB row beside it ({reasons or 'there is no Optimized row'})")
        return found
    pairs = pair(a, b, across_systems=args.systems, here=_machine_here([*a, *b]))
    if not pairs.pairs:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in pairs.left_out[:3])
        raise UsageError(f"A and B have no row in common ({reasons or 'both are empty'})")
    return pairs


def _machine_here(records: Sequence[Record]) -> str:
    """Return which machine this is, where results of several have to be told apart."""
    from strobe.bench.compare.pairing import machine
    from strobe.bench.machine import describe

    return machine(describe()) if len({machine(one.environment) for one in records}) > 1 else ""


def _print(args: argparse.Namespace, found: Comparison, screen: Screen) -> None:
    from strobe.bench.compare import report
    from strobe.bench.table import count_text

    if args.json:
        screen.json(report.as_fields(found))
        return
    if args.markdown:
        screen.out(report.markdown(found, link=args.link or _page(args), are_systems=args.systems))
        return
    print_rows(found, screen)
    for row in found.rows:
        for note in row.notes:
            screen.out(f"{row.name}: {note}")
    for reason, names in _by_reason(found.undecided).items():
        screen.out(f"inconclusive: {names[0] if len(names) == 1 else f'{len(names)} rows'}: {reason}")
    screen.out()
    for line in report.summary(found):
        screen.out(line)
    if found.environment:
        screen.out()
        screen.table(("ENVIRONMENT", "A", "B"), [(name, a or "-", b or "-") for name, a, b in found.environment])
    for line in report.margins(found):
        screen.note(line)
    for name, reason in found.left_out:
        screen.note(f"not compared: {name}: {reason}")
    if found.undecided and not args.confirm:
        rows = count_text(len(found.undecided), "row")
        screen.note(f"{rows} inconclusive: {_remedy(found.undecided, are_systems=args.systems)}")


def _remedy(undecided: Sequence[Row], *, are_systems: bool) -> str:
    from strobe.bench.compare.remeasure import why_not_here
    from strobe.bench.machine import describe

    here = describe()
    num_again = 0 if are_systems else sum(why_not_here(row.a, row.b, here) is None for row in undecided)
    if not num_again:
        return "more sessions of the same commit tell: five make a history"
    them = "them" if num_again == len(undecided) else f"{num_again} of them"
    return f"--confirm measures {them} again, both sides in turns"


def print_rows(found: Comparison, screen: Screen) -> None:
    """Print the table of a comparison."""
    from strobe.bench.compare import report

    rows = [report.cells(row) for row in found.rows]
    screen.table(report.HEADER, rows, right=report.RIGHT, whole=report.HEADER, spare=report.SPARE, lead=1)


def _by_reason(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the rows that are open for the same reason: without a history that is one reason for all."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.reason:
            found.setdefault(row.reason, []).append(row.name)
    return found


def _page(args: argparse.Namespace) -> str | None:
    """Return where the results of this home are shown, if a server is configured."""
    from strobe.cli.target import settings_of
    from strobe.remote.target import target_of

    target = target_of(settings_of(args))
    return None if target is None else f"{target.base_url}/benchmarks"


def _self_test(args: argparse.Namespace, screen: Screen) -> int:
    from strobe.bench.selftest import run
    from strobe.cli import FAILURE, OK
    from strobe.errors import UsageError

    if args.trials < _MIN_TRIALS:
        raise UsageError(f"--trials is {_MIN_TRIALS} or more, got {args.trials}: so few cannot break a promise")
    broken = 0
    promises = []
    for promise in run(args.trials):
        broken += not promise.is_kept
        promises.append(promise)
        if not args.json:
            screen.out(str(promise))
    if args.json:
        fields = ("claim", "rate", "is_upper_bound", "num_cases", "num_trials", "is_kept")
        screen.json([{name: getattr(promise, name) for name in fields} for promise in promises])
    return FAILURE if broken else OK
