"""`strobe run diff` and `export`: several runs at once."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from strobe.cli.parser import Subparsers, add_command
from strobe.cli.render import Screen, value_text
from strobe.cli.target import add_host, reader_of


def register(verbs: Subparsers) -> None:
    diff = add_command(
        verbs,
        "diff",
        _diff,
        summary="compare runs: config, environment and summary, only what differs",
        examples=["strobe run diff 3kf0 latest", "strobe run diff a1 b2 c3 --ignore '^environment' --ignore seed"],
        detail="REGEX is searched for in `section.key`, for example config.optimizer.lr.",
    )
    diff.add_argument("runs", metavar="RUN", nargs="+", help="two runs or more")
    diff.add_argument("--ignore", metavar="REGEX", action="append", default=[], help="leave out keys; may be repeated")
    diff.add_argument("-a", "--all", action="store_true", help="also what is the same")
    add_host(diff)

    export = add_command(
        verbs,
        "export",
        _export,
        summary="write out the full history",
        examples=[
            "strobe run export latest -o history.csv",
            "strobe run export a1 b2 --format parquet -o runs.parquet",
            "strobe run export a1 b2 --key loss -o loss.svg",
        ],
        detail=(
            "Several runs go into one table, with a column `run` in front. Parquet needs pyarrow.\n"
            "SVG is a chart of the metrics named with --key over steps."
        ),
        json=False,
    )
    export.add_argument("runs", metavar="RUN", nargs="+", help="one run or more")
    export.add_argument(
        "-f", "--format", choices=("csv", "jsonl", "parquet", "svg"), help="default: by the name of the file, else csv"
    )
    export.add_argument("-o", "--output", metavar="FILE", type=Path, help="where to (default: stdout)")
    export.add_argument("-k", "--key", action="append", metavar="KEY", help="only this metric; may be repeated")
    add_host(export)


def _diff(args: Namespace) -> int:
    from strobe.api.compare import compare
    from strobe.api.filter import ABSENT

    screen = Screen(args)
    api = reader_of(args)
    runs = [api.run(reference) for reference in args.runs]
    rows = compare(runs, ignore=args.ignore, everything=args.all)
    names = [f"{run.project}/{run.id}" for run in runs]
    if args.json:
        found = [
            {
                "section": row.section,
                "key": row.key,
                "differs": row.differs,
                "values": [None if value is ABSENT else value for value in row.values],
                "present": [value is not ABSENT for value in row.values],
            }
            for row in rows
        ]
        screen.json({"runs": names, "rows": found})
        return 0
    screen.note("  ".join(f"{run.project}/{run.id} = {run.name}" for run in runs))
    if not rows:
        screen.note("no differences")
        return 0
    cells = [[row.section, row.key, *("" if v is ABSENT else value_text(v) for v in row.values)] for row in rows]
    screen.table(["SECTION", "KEY", *names], cells)
    return 0


def _export(args: Namespace) -> int:
    from strobe.api.export import FORMATS, export

    screen = Screen(args)
    suffix = args.output.suffix.lstrip(".") if args.output else ""
    form = args.format or (suffix if suffix in FORMATS else "csv")
    api = reader_of(args)
    runs = [api.run(reference) for reference in args.runs]
    count = export(runs, form, output=args.output, stdout=sys.stdout, keys=args.key)
    screen.note(
        f"{count} {'points' if form == 'svg' else 'rows'} of {len(runs)} {'run' if len(runs) == 1 else 'runs'}"
        + (f" in {args.output}" if args.output else "")
    )
    return 0
