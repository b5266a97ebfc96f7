"""`strobe server gc|backup|restore`: looking after what a server keeps."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from strobe.cli.parser import Subparsers, add_command
from strobe.cli.render import Screen, size_text
from strobe.cli.server_store import add_store_options, open_store_of
from strobe.errors import UsageError

_DAY_S = 24 * 3600.0
#: a century, which the store's moments still hold
_MAX_DAYS = 36_500


def register(verbs: Subparsers) -> None:
    gc = add_command(
        verbs,
        "gc",
        _gc,
        summary="remove what was deleted, what is past its time, and what nobody refers to",
        examples=["strobe server gc", "strobe server gc --undo-days 0"],
        detail="A server does this by itself every hour. Safe while servers run.",
    )
    gc.add_argument(
        "--undo-days", type=float, default=7.0, metavar="N", help="deletions stay undoable for so long (default: 7)"
    )
    add_store_options(gc)
    backup = add_command(
        verbs,
        "backup",
        _backup,
        summary="write everything that the store keeps to a directory",
        examples=["strobe server backup /backups/strobe", "strobe server backup /backups/rows --without-blobs"],
        detail="All rows are of one moment; servers may go on. Into the directory of an earlier backup only new "
        "contents of files are copied.",
    )
    backup.add_argument("directory", metavar="DIR", type=Path, help="where to: a new directory, or an earlier backup")
    backup.add_argument("--without-blobs", action="store_true", help="leave out the contents of files and artifacts")
    add_store_options(backup)
    restore = add_command(
        verbs,
        "restore",
        _restore,
        summary="fill a new, empty store from a backup",
        examples=[
            "strobe server restore /backups/strobe",
            "strobe server restore /backups/strobe --store postgresql://db.example.com/strobe",
        ],
        detail="The backup may be of another kind of store: so a SQLite store moves to PostgreSQL.",
    )
    restore.add_argument("directory", metavar="DIR", type=Path, help="the backup")
    add_store_options(restore)


def _gc(args: Namespace) -> int:
    from strobe.store.upkeep import keep_up

    if not 0 <= args.undo_days <= _MAX_DAYS:
        raise UsageError(f"--undo-days is {args.undo_days:g}; it can be 0 to {_MAX_DAYS}")
    screen = Screen(args)
    with open_store_of(args) as store:
        kept = keep_up(store, undo_s=args.undo_days * _DAY_S)
    figures = {
        "expired_runs": kept.expired_runs,
        "purged_runs": kept.purged_runs,
        "purged_versions": kept.swept.purged + kept.swept.expired,
        "abandoned_uploads": kept.swept.uploads + kept.swept.drafts,
        "contents": kept.swept.contents + kept.swept.orphans,
        "freed_bytes": kept.swept.size_bytes,
    }
    if args.json:
        screen.json(figures)
    else:
        screen.out(
            f"{kept.expired_runs} runs past their time deleted; removed for good: {kept.purged_runs} runs, "
            f"{figures['purged_versions']} versions of artifacts, {figures['abandoned_uploads']} abandoned uploads, "
            f"{figures['contents']} contents ({size_text(kept.swept.size_bytes)})"
        )
    return 0


def _backup(args: Namespace) -> int:
    from strobe.store.backup import write_backup

    screen = Screen(args)
    with open_store_of(args) as store:
        manifest = write_backup(store.contents, args.directory, with_blobs=not args.without_blobs)
    rows = sum(manifest.tables.values())
    if args.json:
        screen.json({"directory": str(args.directory), "runs": manifest.tables["run"], "rows": rows})
    else:
        screen.out(f"{manifest.tables['run']} runs ({rows} rows) are in {args.directory}")
    return 0


def _restore(args: Namespace) -> int:
    from strobe.store.backup import restore_backup

    screen = Screen(args)
    with open_store_of(args) as store:
        manifest = restore_backup(args.directory, store.contents)
    if args.json:
        screen.json({"runs": manifest.tables["run"], "rows": sum(manifest.tables.values())})
    else:
        screen.out(f"{manifest.tables['run']} runs restored from {args.directory}")
    if not manifest.has_blobs:
        screen.warn(
            "the backup was made --without-blobs: what files and artifacts hold is not in it, put it into --blobs"
        )
    return 0
