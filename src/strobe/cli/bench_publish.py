"""`strobe bench publish`: results as a page to send, keep or put on any web server.

Parses, calls strobe.bench.publish, prints; draws nothing itself.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from strobe.cli.bench_table import add_results, read_results
from strobe.cli.parser import Subparsers, add_command


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "publish",
        _publish,
        summary="write the results as a page that needs nothing else",
        detail=(
            "DIRECTORY/index.html has the tables, comparisons, curves and histories, and opens from a disk as well\n"
            "as from a server; records.jsonl beside it has the raw records. See docs/bench-compare.md."
        ),
        examples=["strobe bench publish site/", "strobe bench publish site/ laptop.jsonl server.jsonl"],
    )
    parser.add_argument("directory", type=Path, metavar="DIRECTORY", help="where to write; made if it is not there")
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE", help="results files, instead of --results")
    parser.add_argument("--title", default="Benchmarks", help="default: Benchmarks")
    add_results(parser)


def _publish(args: argparse.Namespace) -> int:
    from strobe.bench import unfinished
    from strobe.bench.publish import publish
    from strobe.bench.records import distinct
    from strobe.bench.table import is_row
    from strobe.cli import OK
    from strobe.cli.render import Screen
    from strobe.errors import UsageError

    given = [one for path in args.files for one in unfinished.read_results(path)]
    records = list(distinct(given if args.files else read_results(args)))
    if not any(map(is_row, records)):
        raise UsageError("nothing to publish: no record is of a benchmark; `strobe bench run` makes some")
    page = publish(records, args.directory, title=args.title)
    screen = Screen(args)
    if args.json:
        screen.json({"page": str(page), "records": len(records)})
    else:
        screen.out(str(page))
    return OK
