"""`strobe journal verify|repair|dump`: the files of a journal, looked at one by one."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from strobe.cli.parser import Subparsers, add_command, add_group
from strobe.cli.render import Screen, size_text
from strobe.cli.target import api_of


def register(subparsers: Subparsers) -> None:
    verbs = add_group(
        subparsers,
        "journal",
        summary="verify, repair and dump journal files",
        examples=["strobe journal verify latest", "strobe journal dump path/to/run | jq ."],
        detail="PATH is a segment file, a journal's or run's directory or one above, or a RUN as in `strobe run`.",
    )
    verify = add_command(
        verbs,
        "verify",
        _verify,
        summary="read every record and say what is damaged; exit code 1 if anything is",
        examples=["strobe journal verify latest", "strobe journal verify path/to/segment.strobe --json"],
        detail="`torn` is a last record cut short, by a kill or by a writer at work: not damage, nothing was lost.",
    )
    verify.add_argument("paths", metavar="PATH", nargs="+", help="what to read")
    repair = add_command(
        verbs,
        "repair",
        _repair,
        summary="write damaged segments anew with all records that can be read; the originals stay as .bak",
        examples=["strobe journal repair path/to/segment.strobe", "strobe journal repair latest"],
        detail="Not while the run is going: a record that is being written looks torn, and would be cut off.",
    )
    repair.add_argument("paths", metavar="PATH", nargs="+", help="what to repair")
    dump = add_command(
        verbs,
        "dump",
        _dump,
        summary="print the records as JSON lines",
        examples=["strobe journal dump latest | head", "strobe journal dump path/to/segment.strobe"],
        json=False,
    )
    dump.add_argument("paths", metavar="PATH", nargs="+", help="what to print")


def _segments(args: Namespace) -> list[Path]:
    from strobe.api.segments import find_segments

    found: list[Path] = []
    for text in args.paths:
        path = Path(text)
        found += find_segments(path if path.exists() else api_of(args).run(text).run_dir.path)
    return found


def _verify(args: Namespace) -> int:
    from strobe.api.segments import report_fields, verify

    screen = Screen(args)
    reports = [verify(path) for path in _segments(args)]
    damaged = [report for report in reports if not report.is_whole]
    if args.json:
        screen.json([report_fields(report) for report in reports])
        return 1 if damaged else 0
    rows = []
    for report in reports:
        state = "fail" if report.damages else "ok"
        end = "sealed" if report.is_sealed else f"torn at {report.torn}" if report.torn is not None else "open"
        kind = report.header.kind if report.header else "?"
        counts = [str(report.num_rows), str(report.num_events), str(len(report.damages))]
        rows.append([state, report.path.name, kind, size_text(report.size_bytes), *counts, end])
    header = ["STATE", "SEGMENT", "WRITER", "SIZE", "ROWS", "EVENTS", "DAMAGES", "END"]
    screen.table(header, rows, right=("SIZE", "ROWS", "EVENTS", "DAMAGES"))
    for report in damaged:
        for damage in report.damages:
            screen.out(f"{report.path}: bytes {damage.start} to {damage.end}: {damage.reason}")
        screen.note(f"strobe journal repair {report.path}")
    return 1 if damaged else 0


def _repair(args: Namespace) -> int:
    from strobe.api.segments import repair_fields
    from strobe.journal.repair import repair

    screen = Screen(args)
    reports = [report for path in _segments(args) for report in repair(path)]
    if args.json:
        screen.json([repair_fields(report) for report in reports])
        return 0
    for report in reports:
        if report.is_changed:
            lost = f"{len(report.damages)} damaged places and {report.dropped} rows without names left out"
            screen.out(f"{report.path}: {report.kept} records kept, {lost}; original in {report.backup}")
        else:
            screen.note(f"{report.path.name}: nothing to repair")
    return 0


def _dump(args: Namespace) -> int:
    from strobe.api.jsonable import jsonable
    from strobe.api.segments import dump

    for path in _segments(args):
        for record in dump(path):
            print(json.dumps(jsonable({"segment": path.name, **record}), ensure_ascii=False, allow_nan=False))
    return 0
