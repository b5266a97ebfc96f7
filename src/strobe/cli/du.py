"""`strobe du`: what a home takes on disk, and whether that is within its quota."""

from __future__ import annotations

from argparse import Namespace

from strobe.api.usage import Usage
from strobe.cli.parser import Subparsers, add_command
from strobe.cli.render import Screen, size_text, time_text
from strobe.cli.target import settings_of
from strobe.home import Home


def register(subparsers: Subparsers) -> None:
    du = add_command(
        subparsers,
        "du",
        _du,
        summary="disk use per project and run, and the quota",
        examples=["strobe du", "strobe du --runs --limit 5"],
        detail="The quota is the setting quota_bytes (STROBE_QUOTA_BYTES=50GB). Over it, a warning and exit code 1.",
    )
    du.add_argument("-r", "--runs", action="store_true", help="per run instead of per project, the biggest first")
    du.add_argument("-n", "--limit", type=int, metavar="N", help="show at most N lines (default: all)")


def _du(args: Namespace) -> int:
    from strobe.api.usage import measure, usage_fields

    screen = Screen(args)
    settings = settings_of(args)
    usage = measure(Home(settings.home), quota_bytes=settings.quota_bytes)
    if args.json:
        screen.json(usage_fields(usage))
    elif args.runs:
        _print_runs(screen, usage, args.limit)
    else:
        _print_projects(screen, usage, args.limit)
    advice = usage.advice()
    if advice is None:
        return 0
    quota = size_text(usage.quota_bytes or 0)
    screen.warn(f"{usage.home} takes {size_text(usage.total_bytes)}, the quota is {quota}; to make room: {advice}")
    return 1


def _print_projects(screen: Screen, usage: Usage, limit: int | None) -> None:
    projects = usage.projects()
    rows = [[f"{p.entity}/{p.project}", str(p.num_runs), size_text(p.total_bytes)] for p in projects[:limit]]
    rows.append(["artifacts", "", size_text(usage.artifact_bytes)])
    rows.append(["trash", "", size_text(usage.trash_bytes)])
    quota = "" if usage.quota_bytes is None else f" of {size_text(usage.quota_bytes)}"
    rows.append(["total", str(len(usage.runs)), size_text(usage.total_bytes) + quota])
    screen.table(["WHAT", "RUNS", "SIZE"], rows, right=("RUNS",))


def _print_runs(screen: Screen, usage: Usage, limit: int | None) -> None:
    rows = [
        [str(run.run), size_text(run.journal_bytes), size_text(run.files_bytes), time_text(run.modified_ns)]
        for run in usage.runs[:limit]
    ]
    screen.table(["RUN", "JOURNAL", "FILES", "CHANGED"], rows, right=("JOURNAL", "FILES"), whole=("RUN",))
    if len(rows) < len(usage.runs):
        screen.note(f"showing {len(rows)} of {len(usage.runs)}")
