"""`strobe bench import`: results that another machine wrote into a file, taken in here.

They become results of this home and runs, like those that were measured here. Parses, keeps, prints.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from strobe.cli.bench_keep import add_keeping, upload
from strobe.cli.bench_table import results_of
from strobe.cli.parser import Subparsers, add_command


def register(commands: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "import",
        _import,
        summary="take in results from files, as results of this home and as runs",
        detail=(
            "For results of machines that have no home of their own to be seen in, such as CI jobs. What is here\n"
            "already is not taken in twice; with a server configured, the new runs go there."
        ),
        examples=["strobe bench import laptop.jsonl", "strobe bench import artifacts/*.jsonl --json"],
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="results files, JSON lines")
    add_keeping(parser)


def _import(args: argparse.Namespace) -> int:
    from strobe.bench.records import append_records
    from strobe.bench.table import is_row
    from strobe.bench.tracker import PROJECT, track
    from strobe.bench.unfinished import read_results
    from strobe.cli import OK
    from strobe.cli.render import Screen
    from strobe.cli.target import home_of

    screen, home, results = Screen(args), home_of(args), results_of(args)
    found = {record.id: record for path in args.files for record in read_results(path)}
    wanted = [record for record in found.values() if record.id and is_row(record)]
    here = {record.id for record in read_results(results)} if results.is_file() else set()
    new = [record for record in wanted if record.id not in here]
    append_records(results, new)
    runs = {run_dir.run_path.id for run_dir in home.iter_runs(project=PROJECT)}
    untracked = [] if args.no_track else [record for record in wanted if record.id not in runs]
    tracked = [track(record, home.path) for record in untracked]
    counts = {"results": len(new), "runs": len(tracked), "known": len(wanted) - len(new)}
    if args.json:
        screen.json({**counts, "left_out": len(found) - len(wanted)})
    else:
        screen.out("{results} results taken in, {runs} runs made of them; {known} were here already".format(**counts))
        if len(wanted) < len(found):
            screen.note("records that an older Strobe wrote without an id or version were left out")
    upload(args, tracked, screen)
    return OK
