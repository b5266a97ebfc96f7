"""`strobe run rm`, `undo` and `trash`: removing runs, and changing one's mind."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from typing import Any

from strobe.cli.parser import Subparsers, add_command, add_group
from strobe.cli.render import Screen, size_text, time_text
from strobe.cli.target import api_of, home_of
from strobe.errors import UsageError


def register(verbs: Subparsers) -> None:
    rm = add_command(
        verbs,
        "rm",
        _rm,
        summary="move runs to the trash; `strobe run undo` brings them back",
        examples=["strobe run rm 3kf0 --yes", "strobe run rm --oldest 2GB --dry-run"],
        detail="The disk is freed by `strobe run trash empty`. Exit code 3: some were removed, some could not be.",
    )
    rm.add_argument("runs", metavar="RUN", nargs="*", help="the runs")
    rm.add_argument("--oldest", metavar="AMOUNT", help="those unchanged for longest: a number of runs, or a size (2GB)")
    rm.add_argument("--undo", action="store_true", help="bring back instead: the named runs, or the last one removed")
    rm.add_argument("--force", action="store_true", help="also runs that are still running")
    rm.add_argument("-y", "--yes", action="store_true", help="do not ask")
    rm.add_argument("--dry-run", action="store_true", help="only say what would be removed")

    undo = add_command(
        verbs,
        "undo",
        _undo,
        summary="bring back removed runs: the named ones, or the last one",
        examples=["strobe run undo", "strobe run undo 3kf0"],
    )
    undo.add_argument("runs", metavar="RUN", nargs="*", help="id, project/id or entity/project/id")

    trash = add_group(
        verbs,
        "trash",
        summary="what was removed and can be brought back",
        examples=["strobe run trash ls", "strobe run trash empty --yes"],
    )
    add_command(
        trash,
        "ls",
        _trash_ls,
        summary="list removed runs",
        examples=["strobe run trash ls", "strobe run trash ls --json"],
    )
    empty = add_command(
        trash,
        "empty",
        _trash_empty,
        summary="delete removed runs for good",
        examples=["strobe run trash empty --yes", "strobe run trash empty --older-than 30 --yes"],
    )
    empty.add_argument("--older-than", type=float, metavar="DAYS", help="only what was removed longer ago")
    empty.add_argument("-y", "--yes", action="store_true", help="do not ask")
    empty.add_argument("--dry-run", action="store_true", help="only say what would be deleted")


def _rm(args: Namespace) -> int:
    if args.undo:
        return _undo(args)
    screen = Screen(args)
    runs = _chosen(args)
    if args.dry_run:
        _report(screen, args, runs, [], dry_run=True)
        return 0
    if not _confirmed(screen, args, f"move {_count(runs)} to the trash: {', '.join(run.id for run in runs)}"):
        return 1
    removed, failures = [], []
    for run in runs:
        try:
            run.delete(force=args.force)
            removed.append(run)
        except (UsageError, OSError) as error:
            failures.append({"run": "/".join(run.path), "error": str(error)})
    _report(screen, args, removed, failures, dry_run=False)
    if not failures:
        return 0
    return 3 if removed else 1


def _chosen(args: Namespace) -> list[Any]:
    api = api_of(args)
    if bool(args.runs) == bool(args.oldest):
        raise UsageError("name the runs to remove, or give --oldest")
    if args.runs:
        return list({run.run_dir.path: run for run in map(api.run, args.runs)}.values())
    from strobe.api.removal import oldest_runs

    return oldest_runs(api.home, args.oldest)


def _count(runs: list[Any]) -> str:
    return f"{len(runs)} run{'' if len(runs) == 1 else 's'}"


def _confirmed(screen: Screen, args: Namespace, what: str) -> bool:
    if args.yes:
        return True
    if not sys.stdin.isatty():
        raise UsageError(f"this would {what}; say --yes to do it, or --dry-run to see")
    print(f"{what[:1].upper()}{what[1:]}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _report(screen: Screen, args: Namespace, runs: list[Any], failures: list[Any], *, dry_run: bool) -> None:
    if args.json:
        screen.json({"removed": ["/".join(run.path) for run in runs], "failed": failures, "dry_run": dry_run})
        return
    for run in runs:
        screen.out(f"{'would remove' if dry_run else 'removed'} {'/'.join(run.path)}  {run.name}")
    for failure in failures:
        screen.warn(failure["error"])
    if runs and not dry_run:
        screen.note("`strobe run undo` brings back the last one; `strobe run trash empty` frees the disk")


def _undo(args: Namespace) -> int:
    from strobe.api import trash

    screen = Screen(args)
    home = home_of(args)
    restored = [trash.restore(home, trash.find(home, reference)) for reference in args.runs or [None]]
    names = [str(run_dir.run_path) for run_dir in restored]
    if args.json:
        screen.json({"restored": names})
    else:
        for name in names:
            screen.out(f"brought back {name}")
    return 0


def _trash_ls(args: Namespace) -> int:
    from strobe.api import trash
    from strobe.api.facts import iso_time

    screen = Screen(args)
    found = trash.entries(home_of(args))
    if args.json:
        screen.json(
            [
                {
                    "run": str(e.run),
                    "removed_at": iso_time(e.removed_ns),
                    "bytes": e.size_bytes(),
                    "directory": str(e.path),
                }
                for e in found
            ]
        )
    elif not found:
        screen.note("the trash is empty")
    else:
        rows = [[str(entry.run), time_text(entry.removed_ns), size_text(entry.size_bytes())] for entry in found]
        screen.table(["RUN", "REMOVED", "SIZE"], rows, right=("SIZE",), whole=("RUN",))
    return 0


def _trash_empty(args: Namespace) -> int:
    from strobe.api import trash

    screen = Screen(args)
    home = home_of(args)
    before_ns = None if args.older_than is None else time.time_ns() - int(args.older_than * 86400e9)
    going = [entry for entry in trash.entries(home) if before_ns is None or entry.removed_ns < before_ns]
    size = sum(entry.size_bytes() for entry in going)
    if going and not args.dry_run:
        if not _confirmed(screen, args, f"delete {_count(going)} for good ({size_text(size)})"):
            return 1
        trash.empty(home, before_ns=before_ns)
    if args.json:
        screen.json({"deleted": [str(entry.run) for entry in going], "bytes": size, "dry_run": args.dry_run})
    else:
        verb = "would delete" if args.dry_run else "deleted"
        screen.out(f"{verb} {_count(going)}, {size_text(size)}")
    return 0
