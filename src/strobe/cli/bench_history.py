"""`strobe bench history`: how the benchmarks went from session to session.

Parses, calls strobe.bench.history, prints; decides nothing itself.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from strobe.cli.bench_compare import print_rows
from strobe.cli.bench_confirm import add_confirmation, confirm_rows, measurable_here
from strobe.cli.bench_gate import gate
from strobe.cli.bench_table import add_benchmarks, add_results, chosen_results
from strobe.cli.parser import Subparsers, add_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strobe.bench.compare import Comparison
    from strobe.bench.history import Series, Step
    from strobe.cli.render import Screen

_HEADER = ("BENCHMARK", "SESSIONS", "COURSE", "NOW", "UNIT", "AGAINST BEST", "STEPS")


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "history",
        _history,
        summary="show how each benchmark went over time, and the steps in it",
        detail=(
            "One line per benchmark, version and machine. A step is a change of level that lasts for three sessions\n"
            "or more; single outliers are none. Exit code: 0 nothing is slower than at its best, 1 something is (with\n"
            "--confirm: and it was confirmed, or could not be measured again), 2 nothing could be judged. Versions\n"
            "that were replaced have ended: they are shown, and count for nothing.\n"
            "See docs/bench-compare.md."
        ),
        examples=["strobe bench history", "strobe bench history dlrm --json", "strobe bench history --worse --confirm"],
    )
    add_benchmarks(parser)
    parser.add_argument("--worse", action="store_true", help="only what is slower than at its best")
    parser.add_argument(
        "--threshold", type=float, default=3.0, metavar="PERCENT", help="smaller changes do not matter (default: 3)"
    )
    add_confirmation(parser, "measure what got slower again, at its best and now, both in turns")
    add_results(parser)


@gate
def _history(args: argparse.Namespace) -> int:
    from strobe.bench.history import trace
    from strobe.cli import FAILURE, INTERRUPTED, OK
    from strobe.cli.render import Screen
    from strobe.errors import UsageError

    screen = Screen(args)
    if not args.threshold >= 0:
        raise UsageError(f"--threshold is not negative: {args.threshold}")
    records = chosen_results(args)
    found = [series for series in trace(records, threshold=args.threshold / 100) if series.is_worse or not args.worse]
    with ExitStack() as ends:
        confirmed = _confirm(args, found, screen, ends) if args.confirm else None
        if args.json:
            screen.json({"series": [_fields(series) for series in found], "confirmed": _confirmed_fields(confirmed)})
        else:
            _print(found, confirmed, screen)
    if confirmed is not None and confirmed.is_interrupted:
        return INTERRUPTED
    # Only a row that was measured again can be cleared; of the others the history is all there is.
    num_asked = sum(row.estimate is not None for row in confirmed.rows) if confirmed is not None else 0
    is_open = num_asked < sum(series.is_worse for series in found)
    return FAILURE if is_open or (confirmed is not None and confirmed.is_worse) else OK


def _confirm(args: argparse.Namespace, found: Sequence[Series], screen: Screen, ends: ExitStack) -> Comparison | None:
    from strobe.bench.compare import Pairs, Rule, compare
    from strobe.bench.history import suspicion

    pairs = measurable_here(args, [pair for series in found if (pair := suspicion(series)) is not None], screen)
    if not pairs:
        return None
    suspected = compare(Pairs(tuple(pairs)), rule=Rule(threshold=args.threshold / 100))
    return confirm_rows(args, suspected, suspected.rows, screen, ends)


def _print(found: Sequence[Series], confirmed: Comparison | None, screen: Screen) -> None:
    from strobe.bench.history import distinctions
    from strobe.bench.table import number_text, scale_of

    rows = []
    for series, distinction in zip(found, distinctions(found), strict=True):
        name = " ".join(filter(None, [series.name, distinction, "(ended)" if series.is_ended else ""]))
        last = series.records[-1]
        course = _course(series)
        against = f"{100 * series.against_best:+.1f} %" if series.is_worse else ""
        steps = ", ".join(_step_text(step) for step in series.steps)
        factor, unit = scale_of(series.levels[-1].value, last.unit)
        now = number_text(factor * series.levels[-1].value)
        rows.append((name, str(len(series.records)), course, now, unit, against, steps))
    numbers = ("SESSIONS", "NOW", "AGAINST BEST")
    screen.table(_HEADER, rows, right=numbers, whole=(*numbers, "UNIT"), spare=("COURSE",), lead=1)
    if confirmed is not None:
        screen.out()
        print_rows(confirmed, screen)
    elif _can_confirm(found):
        screen.note("slower than at its best: --confirm measures it again, then and now, in turns")


def _can_confirm(found: Sequence[Series]) -> bool:
    from strobe.bench.compare.remeasure import why_not_here
    from strobe.bench.history import suspicion
    from strobe.bench.machine import describe

    suspects = [pair for series in found if (pair := suspicion(series)) is not None]
    here = describe() if suspects else None
    return here is not None and any(why_not_here(pair.a, pair.b, here) is None for pair in suspects)


def _course(series: Series) -> str:
    from strobe.bench import stats
    from strobe.sdk.report.spark import sparkline

    return sparkline([stats.median(record.samples) for record in series.records][-24:])


def _step_text(step: Step) -> str:
    before, after = (commit[:8] or "?" for commit in step.commits)
    return f"{100 * step.change:+.1f} % ({before}..{after})"


def _confirmed_fields(confirmed: Comparison | None) -> dict[str, Any] | None:
    if confirmed is None:
        return None
    from strobe.bench.compare import report  # needs numpy, which a history by itself does without

    return report.as_fields(confirmed)


def _fields(series: Series) -> dict[str, Any]:
    from strobe.bench import stats

    return {
        "name": series.name,
        "version": series.version,
        "seal": series.seal,
        "machine": series.machine,
        "host": series.records[-1].environment.host,
        "points": [
            {
                "id": record.id,
                "started_at": record.environment.started_at,
                "git_commit": record.environment.git_commit,
                "score": stats.median(record.samples),
            }
            for record in series.records
        ],
        "levels": [{"start": level.start, "stop": level.stop, "score": level.value} for level in series.levels],
        "steps": [
            {"index": step.index, "change": step.change, "before": step.commits[0], "after": step.commits[1]}
            for step in series.steps
        ],
        "against_best": series.against_best,
        "is_worse": series.is_worse,
        "is_ended": series.is_ended,
    }
