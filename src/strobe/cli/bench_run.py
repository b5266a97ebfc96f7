"""`strobe bench run` and `rerun`: measure benchmarks on this machine.

Parses, calls strobe.bench.runner, keeps and prints the results; measures nothing itself.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from strobe.cli.bench_catalog import add_selection
from strobe.cli.bench_keep import add_keeping, keeping, upload
from strobe.cli.bench_peaks import known_peaks, with_rooflines
from strobe.cli.bench_plan import add_effort, plan_run
from strobe.cli.bench_seals import add_changed, find_changed, mark_changed
from strobe.cli.bench_signals import take_as_ctrl_c
from strobe.cli.bench_table import add_format, print_table, read_results, results_of, settle_results
from strobe.cli.parser import Subparsers, add_command, build

if TYPE_CHECKING:
    from strobe.bench.batch_search import Choice
    from strobe.bench.records import Record
    from strobe.bench.runner.options import Cell, Options
    from strobe.bench.runner.session import Results
    from strobe.bench.spec import Benchmark
    from strobe.cli.render import Screen


def register(commands: Subparsers) -> None:
    """Add the commands."""
    run = add_command(
        commands,
        "run",
        _run,
        summary="measure benchmarks and print the results table",
        detail=(
            "Without an argument: the smoke tier, in under three minutes on two cores. Each row is measured by\n"
            "several fresh processes, in turns with all other rows. Results are kept in the home, each also as a\n"
            "run of project bench. See docs/bench.md."
        ),
        examples=[
            "strobe bench run",
            "strobe bench run --tier ci",
            "strobe bench run regnety --pairs",
            "strobe bench run dlrm/ootb/inference/tiny-100k --search",
            "strobe bench run mine.py --markdown",
        ],
    )
    add_selection(run)
    add_effort(run)
    add_changed(run)
    how = run.add_mutually_exclusive_group()
    how.add_argument("--search", action="store_true", help="find the batch size of the best throughput in the limits")
    how.add_argument("--serving", action="store_true", help="queries at random: the best rate within the latency limit")
    run.add_argument("--pairs", action="store_true", help="with each Optimized its OOTB beside it, and how much faster")
    run.add_argument("--overhead", action="store_true", help="print what the harness itself costs, and stop")
    add_format(run)
    add_keeping(run)
    rerun = add_command(
        commands,
        "rerun",
        _rerun,
        summary="measure a result again, in the same way",
        examples=["strobe bench rerun 3f9a01bc", "strobe bench rerun 3f9a01bc --json"],
    )
    rerun.add_argument("id", metavar="ID", help="of the result, or its end as the table shows it")
    add_format(rerun)
    add_keeping(rerun)


# -- run ---------------------------------------------------------------------------------------------------------------


def _run(args: argparse.Namespace) -> int:
    from strobe.cli import OK
    from strobe.cli.render import Screen
    from strobe.errors import UsageError

    screen = Screen(args)
    if args.overhead:
        from strobe.bench.runner.loop import SAMPLE_NS, call_ns, overhead_percent

        percent, call = (min(measure() for _ in range(3)) for measure in (overhead_percent, call_ns))
        screen.out(
            f"{percent:.2f} % of a sample of {SAMPLE_NS / 1e6:g} ms, which most are at least; less of longer ones"
        )
        screen.out(f"{call:.0f} ns per call of a step: 1 % of one of {call / 10:.1f} µs; rows of shorter ones say so")
        return OK
    take_as_ctrl_c("SIGTERM", "SIGHUP")
    if args.pairs:
        import strobe.bench.compare.significance  # noqa: F401 - what it lacks is said before anything is measured
    if args.search and args.master:
        raise UsageError("--search is for one node: only node 0 sees results; with --master say --batch N")
    cells, options = plan_run(args)
    settle_results(args)
    changed = find_changed(args, cells, options, screen)
    peaks = known_peaks(args, cells, options, screen)

    def complete(records: Sequence[Record]) -> list[Record]:
        return with_rooflines(mark_changed(records, changed), peaks)

    with keeping(args, screen) as session:

        def note(record: Record) -> None:
            session.note(*complete([record]))

        trials: list[Record] = []
        if args.search:
            trials, results = _search(cells, options, screen, note)
        else:
            results = _measure(cells, options, screen, note)
        records = complete(results.records)
        try:
            kept = session.keep([*complete(trials), *records])
        finally:  # what a full disk does not take is at least seen
            print_table(args, records, screen)
    if cut := sum(0 < len(record.samples) < options.repeats for record in records):
        why = "interrupted" if results.is_interrupted else "more time: --minutes"
        screen.note(f"{cut} of {len(records)} rows have fewer than {options.repeats} repeats; {why}")
    if args.pairs:
        _print_pairs(records, screen)
    upload(args, kept, screen)
    return _exit_code(records, is_interrupted=results.is_interrupted)


def _measure(cells: Sequence[Cell], options: Options, screen: Screen, note: Callable[[Record], None]) -> Results:
    from strobe.bench.runner.session import measure
    from strobe.cli.bench_progress import ProgressLine

    line = ProgressLine(screen)
    try:
        return measure(cells, options, report=line.show, keep=note)
    finally:
        line.clear()


def _search(
    cells: Sequence[Cell], options: Options, screen: Screen, note: Callable[[Record], None]
) -> tuple[list[Record], Results]:
    """Find the best batch of each benchmark with one process per trial, then measure the winners properly.

    The trials are worth keeping, too: they are the curve of throughput over latency.
    """
    from dataclasses import replace

    from strobe.bench.batch_search import search
    from strobe.bench.runner.options import Cell
    from strobe.bench.runner.session import Results
    from strobe.bench.table import score_text

    def note_trial(record: Record) -> None:
        note(_as_trial(record))

    choices: dict[str, tuple[Benchmark, Choice]] = {}
    trials: list[Record] = []
    smallest: dict[str, Cell] = {}
    for cell in sorted(cells, key=lambda cell: cell.batch_size):
        smallest.setdefault(cell.benchmark.key, cell)
    for cell in smallest.values():

        def try_batch(batch_size: int, benchmark: Benchmark = cell.benchmark) -> Record:
            results = _measure([Cell(benchmark, batch_size)], replace(options, repeats=1), screen, note_trial)
            if results.is_interrupted:
                raise KeyboardInterrupt
            trials.append(_as_trial(results.records[0]))
            screen.note(f"{benchmark.key} B={batch_size}: {score_text(trials[-1])} {benchmark.units}")
            return trials[-1]

        try:
            choice = search(try_batch, first=cell.batch_size, max_batch=cell.benchmark.max_batch)
        except KeyboardInterrupt:
            return trials, Results([], is_interrupted=True)
        choices[cell.benchmark.key] = cell.benchmark, choice
    dropped, results = _measure_winners(choices, options, screen, note)
    return [*trials, *dropped], results


def _measure_winners(
    choices: Mapping[str, tuple[Benchmark, Choice]], options: Options, screen: Screen, note: Callable[[Record], None]
) -> tuple[list[Record], Results]:
    """Measure the winners in turns; those that do not hold give way, as trials, to the next best until one does."""
    from strobe.bench.batch_search import qualifies, winner
    from strobe.bench.runner.options import Cell
    from strobe.bench.runner.session import Results

    finals: dict[str, list[Record]] = {key: [] for key in choices}

    def next_cells() -> list[Cell]:
        sizes = {key: choice.next_size(finals[key]) for key, (_, choice) in choices.items()}
        return [Cell(choices[key][0], size) for key, size in sizes.items() if size is not None]

    results = Results([])
    while not results.is_interrupted and (cells := next_cells()):
        for cell in cells:
            for beaten in finals[cell.benchmark.key][-1:]:
                note(_as_trial(beaten))
                screen.note(f"{cell} instead of B={beaten.batch_size}, which with all repeats is late, wrong or failed")
        results = _measure(cells, options, screen, note)
        for record in results.records:
            finals[record.benchmark].append(record)
    rows = [winner(found) for found in finals.values() if found]
    for row in rows:
        if not qualifies(row) and not results.is_interrupted:
            screen.note(
                f"{row.benchmark}: no batch that was tried is correct and within the latency limit; "
                f"the smallest, B={row.batch_size}, is shown"
            )
    dropped = [_as_trial(one) for found in finals.values() for one in found if one not in rows]
    return dropped, Results(rows, is_interrupted=results.is_interrupted)


def _as_trial(record: Record) -> Record:
    import msgspec

    return msgspec.structs.replace(record, is_trial=True)


# -- results -----------------------------------------------------------------------------------------------------------


def _print_pairs(records: Sequence[Record], screen: Screen) -> None:
    from strobe.bench.compare import compare, pair_implementations, report

    found = compare(pair_implementations(records))
    for row in found.rows:
        if row.estimate is None:
            screen.note(f"{row.name}: {row.verdict}: {'; '.join(row.notes)}")
        else:
            speed = f"{report.factor(row.estimate.value)} OOTB ({report.bounds(row)}), n={row.estimate.n}"
            screen.note(f"{row.name}: {speed}: {row.verdict}{f', {row.reason}' if row.reason else ''}")
    for name, reason in found.left_out:
        screen.note(f"{name}: not compared with OOTB: {reason}")


def _exit_code(records: Sequence[Record], *, is_interrupted: bool) -> int:
    from strobe.cli import INTERRUPTED, code_for

    if is_interrupted:
        return INTERRUPTED
    tried = [one for one in records if not one.is_left_out]
    bad = [one for one in tried if one.error or (one.correctness and not one.correctness.is_correct)]
    return code_for(len(bad), len(tried))


def _words_of(record: Record) -> list[str]:
    """Return the words of the command that measures a row again; none where it is no command."""
    try:
        return shlex.split(record.command)
    except ValueError:  # a quote that does not end
        return []


def _rerun(args: argparse.Namespace) -> int:
    from strobe.errors import UsageError

    found = [record for record in read_results(args) if record.id and record.id.endswith(args.id)]
    if len(found) != 1:
        many = f"{len(found)} results" if found else "no result"
        raise UsageError(
            f"{many} with an id that ends with {args.id!r} in {results_of(args)}; `strobe bench table --all`"
        )
    program, *words = _words_of(found[0]) or [""]
    if program != "strobe":
        how = f"this measures it again: {found[0].command}" if found[0].command else "its record does not say how"
        raise UsageError(f"{args.id} was measured by another program; {how}")
    again = build(words).parse_args(words)
    if found[0].is_trial:
        again.repeats = None  # what is asked for by name is no longer a single process's trial
    if args.format != "terminal" and not hasattr(again, "format"):
        raise UsageError(f"`strobe {' '.join(words[:2])}` has no --format; measure it again, then `strobe bench table`")
    for name in ("home", "json", "verbose", "quiet", "format", "results", "no_track"):
        setattr(again, name, getattr(args, name))
    code: int = again.func(again)
    return code
