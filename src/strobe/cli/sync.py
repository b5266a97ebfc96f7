"""`strobe sync`: bring runs to a server, now and in sight."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strobe.cli.parser import Subparsers, add_command
from strobe.cli.render import Screen
from strobe.cli.sync_progress import Progress, Standing
from strobe.cli.target import api_of, settings_of
from strobe.errors import RunNotFound, UsageError
from strobe.home import Home, RunDir, RunPath
from strobe.remote.marker import Marker, Markers
from strobe.remote.target import Target, target_of
from strobe.terminal import Terminal

if TYPE_CHECKING:
    from strobe.agent.upload.foreground import Foreground, Order, Trip

_LINE_S = 5.0
_DRAW_S = 0.2


def register(subparsers: Subparsers) -> None:
    sync = add_command(
        subparsers,
        "sync",
        _sync,
        summary="upload runs to a server: offline, crashed and running ones",
        examples=["strobe sync", "strobe sync runs/local/digits/3kf0x2ab --host https://strobe.example"],
        detail=(
            "Without a name: the runs that were meant for a server and are not there yet. PATH is a run's directory,\n"
            "one that holds runs, or a run as for `strobe run show`. What the server has is not sent again.\n"
            "Exit codes: 0 everything is there, 1 nothing, 3 some runs are not."
        ),
    )
    sync.add_argument("paths", metavar="PATH", nargs="*", help="runs, or directories that hold runs")
    sync.add_argument("--all", action="store_true", help="every run of the home, the offline ones too")
    sync.add_argument("--host", metavar="URL", help="the server (default: the run's own, else base_url)")
    sync.add_argument("--entity", help="whose the runs are there")
    sync.add_argument("--project", help="their project there")
    sync.add_argument("--watch", action="store_true", help="go on with what is logged meanwhile, until interrupted")


def _sync(args: Namespace) -> int:
    from strobe.agent.upload.foreground import Foreground

    screen = Screen(args)
    orders = list(_orders(args))
    if not orders:
        if args.json:
            screen.json({"synced": 0, "failed": 0, "runs": []})
        else:
            screen.note("nothing waits to be uploaded; `strobe sync --all` takes the offline runs too")
        return 0
    work = Foreground(orders, watch=args.watch, report=screen.warn if args.verbose else lambda text: None)
    work.start()
    try:
        _follow(work, screen, is_silent=args.quiet or args.json)
    except KeyboardInterrupt:
        screen.note("interrupted; what is missing is sent the next time")
    finally:
        work.close()
    return _report(work, screen, args)


# -- which runs ------------------------------------------------------------------------------------------------------


def _orders(args: Namespace) -> Iterator[Order]:
    from strobe.agent.upload.foreground import Order

    settings = settings_of(args)
    if args.host:
        settings = settings.replace(base_url=args.host)
    default = target_of(settings)
    home = Home(settings.home)
    for run_dir, markers in _chosen(args, home):
        path = run_dir.run_path
        target = _target(markers, default, is_given=bool(args.host))
        if target is None:
            raise UsageError(f"no server is known for {path}; say --host URL, or `strobe config set base_url URL`")
        destination = RunPath(args.entity or path.entity, args.project or path.project, path.id)
        yield Order(
            home=_home_of(run_dir, home),
            run_dir=run_dir,
            target=target,
            destination=None if destination == path else destination,
            markers=markers,
        )


def _target(markers: list[Marker], default: Target | None, *, is_given: bool) -> Target | None:
    if is_given or not markers:
        return default
    own = markers[-1].target
    # The way there may have changed since: a key that was renewed, another proxy.
    return default if default is not None and default.base_url == own.base_url else own


def _chosen(args: Namespace, home: Home) -> Iterator[tuple[RunDir, list[Marker]]]:
    waiting: dict[str, list[Marker]] = {}
    for marker in Markers(home).scan():
        waiting.setdefault(marker.run_dir, []).append(marker)
    if args.paths:
        named = {run_dir.path: run_dir for word in args.paths for run_dir in _find(word, args)}
        found = list(named.values())
    elif args.all:
        found = list(home.iter_runs())
    else:
        found = [RunDir(Path(path)) for path in waiting]
    for run_dir in sorted(found, key=lambda run_dir: run_dir.path):
        if run_dir.exists():
            yield run_dir, waiting.get(str(run_dir.path), [])


def _find(word: str, args: Namespace) -> list[RunDir]:
    """Return the runs that a word on the command line means."""
    path = Path(word).expanduser().absolute()
    if path.is_dir():
        within = [RunDir(found.parent) for found in path.glob("journal")]
        for pattern in ("*/journal", "*/*/journal", "*/*/*/journal", "runs/*/*/*/journal"):
            within = within or [RunDir(found.parent) for found in path.glob(pattern)]
        if not within:
            raise RunNotFound(f"{path} holds no runs; name a run's directory, a project's or a home")
        return within
    return [RunDir(Path(api_of(args).run(word).run_dir.path).absolute())]


def _home_of(run_dir: RunDir, default: Home) -> Home:
    """Return the home that a run lies in: artifacts are there."""
    parents = run_dir.path.parents
    return Home(parents[3]) if len(parents) > 3 and parents[2].name == "runs" else default


# -- what is seen ----------------------------------------------------------------------------------------------------


def _follow(work: Foreground, screen: Screen, *, is_silent: bool) -> None:
    terminal = Terminal(sys.stderr)
    interactive = terminal.is_interactive
    progress = Progress()
    began = shown_at = time.monotonic()
    while not work.is_done():
        time.sleep(0.02 if time.monotonic() - began < 1 else 0.1)
        now = time.monotonic()
        progress.note(_standing(work), now)
        if is_silent or now - shown_at < (_DRAW_S if interactive else _LINE_S):
            continue
        shown_at = now
        if interactive:
            terminal.write(f"\r\x1b[K{progress.line()[: terminal.width - 1]}")
        else:
            screen.note(progress.line())
    if interactive and not is_silent:
        terminal.write("\r\x1b[K")


def _standing(work: Foreground) -> Standing:
    return Standing(
        num_runs=len(work.trips),
        num_done=sum(trip.is_done or trip.is_synced for trip in work.trips),
        sent_bytes=work.num_sent,
        left_bytes=sum(trip.left_bytes for trip in work.trips),
        num_files_left=sum(trip.course.state.num_files_left for trip in work.trips),
        problem=next((trip.error for trip in work.trips if trip.error), ""),
    )


def _report(work: Foreground, screen: Screen, args: Namespace) -> int:
    synced = [trip for trip in work.trips if trip.is_synced and not trip.course.state.num_left_out]
    if args.json:
        runs = [_facts(trip) for trip in work.trips]
        screen.json({"synced": len(synced), "failed": len(work.trips) - len(synced), "runs": runs})
    else:
        for trip in work.trips:
            screen.out(_line(trip))
    if len(synced) == len(work.trips):
        return 0
    return 3 if synced else 1


def _facts(trip: Trip) -> dict[str, Any]:
    state = trip.course.state
    return {
        "run": str(trip.order.run_dir.run_path),
        "directory": str(trip.order.run_dir.path),
        "status": _status(trip),
        "url": _url(trip),
        "rows": state.num_rows,
        "bytes": state.num_bytes,
        "files": state.num_files,
        "left_out": state.num_left_out,
        "error": trip.error or None,
    }


def _status(trip: Trip) -> str:
    if not trip.is_synced:
        return "failed"
    if trip.course.state.num_left_out:
        return "partly"
    return "running" if trip.is_live else "synced"


def _url(trip: Trip) -> str | None:
    path = trip.course.state.run
    if not path:
        return None
    entity, project, run_id = path.split("/", 2)
    return f"{trip.course.state.server}/{entity}/{project}/runs/{run_id}"


def _line(trip: Trip) -> str:
    words = {"failed": "not synced", "partly": "in part", "running": "so far", "synced": "synced"}
    status, path = _status(trip), trip.order.run_dir.run_path
    if status == "failed":
        return f"{words[status]:<10}  {path}  {trip.error or 'interrupted'}"
    note = {"partly": f"  {trip.error}", "running": "  still running: --watch goes on"}.get(status, "")
    return f"{words[status]:<10}  {path}  {_url(trip) or 'nothing was logged'}{note}"
