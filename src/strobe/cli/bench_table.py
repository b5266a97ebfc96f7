"""`strobe bench table`: results as the suite's table, for a terminal, as Markdown, JSON or CSV.

Parses, reads records, prints; imports no framework.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from strobe.cli.parser import Subparsers, add_command

if TYPE_CHECKING:
    from strobe.bench.records import Record
    from strobe.cli.render import Screen

#: of an id, as the terminal shows it; chance lies at its end
_SHORT_ID = 8


def register(commands: Subparsers) -> None:
    """Add the command."""
    table = add_command(
        commands,
        "table",
        _table,
        summary="print the newest result of each benchmark and batch size",
        examples=["strobe bench table", "strobe bench table dlrm --format markdown", "strobe bench table --csv"],
    )
    add_benchmarks(table)
    table.add_argument("--all", action="store_true", help="every result, not only the newest")
    add_format(table)
    add_results(table)


def add_format(parser: argparse.ArgumentParser) -> None:
    """Let a command choose how it prints the table."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--format", choices=("terminal", "markdown", "csv"), default="terminal", help="default: terminal"
    )
    group.add_argument("--csv", dest="format", action="store_const", const="csv", help="the same as --format csv")
    group.add_argument(
        "--markdown", dest="format", action="store_const", const="markdown", help="the same as --format markdown"
    )


def add_results(parser: argparse.ArgumentParser) -> None:
    """Let a command choose where results are."""
    parser.add_argument(
        "--results", type=Path, metavar="PATH", help="the file of results (default: bench/results.jsonl in the home)"
    )


def results_of(args: argparse.Namespace) -> Path:
    """Return the file of results that the arguments name."""
    from strobe.bench.records import results_path
    from strobe.cli.target import home_of

    found: Path = args.results or results_path(home_of(args).path)
    return found


def add_benchmarks(parser: argparse.ArgumentParser) -> None:
    """Let a command take results of some benchmarks only."""
    parser.add_argument(
        "benchmark", nargs="*", metavar="BENCHMARK", help="a key, its beginning or a glob (default: all)"
    )


def stored_results(args: argparse.Namespace) -> list[Record]:
    """Read the results that there are."""
    from strobe.bench.records import read_records

    path = results_of(args)
    settle_results(args)
    return list(read_records(path)) if path.is_file() else []


def read_results(args: argparse.Namespace) -> list[Record]:
    """Read the results; raises UsageError if there are none yet."""
    from strobe.errors import UsageError

    if found := stored_results(args):
        return found
    raise UsageError(f"{results_of(args)}: no results yet; `strobe bench run` makes some")


def chosen_results(args: argparse.Namespace) -> list[Record]:
    """Read the results of the benchmarks that `add_benchmarks` let the user name; raises UsageError for none."""
    from strobe.bench.spec import is_named
    from strobe.errors import UsageError

    words = args.benchmark
    found = [one for one in read_results(args) if not words or any(is_named(one.benchmark, word) for word in words)]
    if not found:
        raise UsageError(f"no result of {' '.join(words)} in {results_of(args)}; `strobe bench run` it")
    return found


def settle_results(args: argparse.Namespace) -> None:
    """Take in what sessions left that were killed, and say so."""
    from strobe.bench.table import count_text
    from strobe.bench.unfinished import settle
    from strobe.cli.render import Screen

    path = results_of(args)
    if taken := settle(path):
        rows = count_text(len(taken), "row")
        Screen(args).note(f"{rows} of a session that did not end taken in; runs of them: strobe bench import {path}")


def _table(args: argparse.Namespace) -> int:
    from strobe.bench.compare.pairing import newest
    from strobe.bench.table import is_row
    from strobe.cli import OK
    from strobe.cli.render import Screen
    from strobe.errors import UsageError

    records = [record for record in chosen_results(args) if is_row(record)]
    if not records:
        raise UsageError(f"{results_of(args)}: no result that a table has a row for; `strobe bench run` makes some")
    print_table(args, records if args.all else list(newest(records).values()), Screen(args))
    return OK


def print_table(args: argparse.Namespace, records: Sequence[Record], screen: Screen) -> None:
    """Print results in the form that the arguments ask for."""
    from strobe.bench.fields import FIELDS, as_fields
    from strobe.bench.table import markdown_tables
    from strobe.cli.render import write_csv

    if args.json:
        screen.json([as_fields(record) for record in records])
    elif args.format == "csv":
        write_csv(FIELDS, [list(as_fields(record).values()) for record in records])
    elif args.format == "markdown":
        screen.out(markdown_tables(records))
    else:
        _print_terminal(records, screen)


def _print_terminal(records: Sequence[Record], screen: Screen) -> None:
    from strobe.bench import table
    from strobe.bench.compare.pairing import row_name

    for rows in table.by_system(records).values():
        screen.out(table.system_title(rows[-1]))
        screen.table(
            (*table.HEADER, "Spread", "p99 ms", "Of peak", "Id"),
            [(*table.cells(row), *_more(row)) for row in rows],
            right=("Batch Size", "Score", "p99 ms", "Of peak"),
            whole=("Batch Size", "Score", "Units", "Id"),
            spare=("p99 ms", "Of peak", "Spread"),
            lead=table.HEADER.index("Batch Size"),
            instead="--csv",
        )
        for sign, meaning in table.legend(rows).items():
            screen.out(f"{sign} = {meaning}")
        for row in rows:
            if row.error:
                screen.out(f"{row_name(row)}: {row.error}")
        if screen.verbose:
            for row in rows:
                reasons = dict.fromkeys(reason for repeat in row.repeats for reason in repeat.noisy)
                screen.note(f"{row.command}" + (f"  # noisy: {', '.join(reasons)}" if reasons else ""))
        screen.out()
    screen.note("measure a row again: strobe bench rerun ID")


def _more(record: Record) -> tuple[str, ...]:
    from strobe.bench import table
    from strobe.bench.table import number_text

    latency = number_text(record.latency.p99_ms) if record.latency else ""
    roofline = f"{100 * record.roofline.fraction:.0f} % {record.roofline.bound}" if record.roofline else ""
    return (table.spread_text(record), latency, roofline, record.id[-_SHORT_ID:])
