"""Keeping results, for every command that measures: in the file of results, and each as a run.

Where a server is configured the runs go there in the end, in sight: a job whose machine ends with it leaves no time for
an agent, and nothing is to be uploaded while something is measured.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strobe.bench.records import Record
    from strobe.bench.unfinished import Unfinished
    from strobe.cli.render import Screen
    from strobe.home import RunDir

_LOOK_S = 0.1


def add_keeping(parser: argparse.ArgumentParser, flag: str = "--results") -> None:
    """Let a command choose where its results go."""
    parser.add_argument(
        flag,
        dest="results",
        type=Path,
        metavar="PATH",
        help="append results here (default: bench/results.jsonl in the home)",
    )
    parser.add_argument("--no-track", action="store_true", help="keep results only in the file, not as runs")


def keep(args: argparse.Namespace, records: Sequence[Record]) -> list[RunDir]:
    """Append results to the file that the arguments name, and make each a run; return these."""
    from strobe.bench.records import append_records
    from strobe.cli.bench_table import results_of
    from strobe.cli.target import home_of

    # First, and before anything else is imported: what was measured must not be lost, whatever is missing here.
    append_records(results_of(args), records)
    if args.no_track:
        return []
    from strobe.bench.tracker import track

    return [track(record, home_of(args).path) for record in records]


class Session:
    """Results that are still measured: on disk after each repeat, and kept as any others in the end."""

    def __init__(self, args: argparse.Namespace, screen: Screen, unfinished: Unfinished) -> None:
        self._args = args
        self._screen = screen
        self._unfinished = unfinished

    def note(self, record: Record) -> None:
        """Write down how a row stands."""
        try:
            self._unfinished.write(record)
        except OSError as exc:  # the row is still known here, and more room may come
            self._screen.warn(f"{record.benchmark}: not on disk before the session ends: {exc}")

    def keep(self, records: Sequence[Record]) -> list[RunDir]:
        """Keep all rows; return their runs. What cannot be kept stays where it was noted."""
        kept = keep(self._args, records)
        self._unfinished.discard()
        return kept


@contextmanager
def keeping(args: argparse.Namespace, screen: Screen) -> Iterator[Session]:
    """Hold a place for the results of a session; raises UsageError, before it begins, if they cannot be written."""
    from strobe.bench.unfinished import Unfinished
    from strobe.cli.bench_table import results_of

    with Unfinished(results_of(args)) as unfinished:
        yield Session(args, screen, unfinished)


def upload(args: argparse.Namespace, run_dirs: Sequence[RunDir], screen: Screen) -> None:
    """Bring runs to the server that they were meant for, if there is one; what fails stays for `strobe sync`."""
    from strobe.agent.upload.foreground import Foreground, Order
    from strobe.cli.target import settings_of
    from strobe.home import Home
    from strobe.remote.marker import Markers
    from strobe.remote.target import target_of

    settings = settings_of(args)
    home, target = Home(settings.home), target_of(settings)
    waiting = {marker.run_dir: marker for marker in Markers(home).scan()}
    # Without a server, or told to stay offline, no run left word that it is to be uploaded.
    found = [(run_dir, waiting[name]) for run_dir in run_dirs if (name := str(run_dir.path.absolute())) in waiting]
    if target is None or not found:
        return
    work = Foreground(
        [Order(home=home, run_dir=run_dir, target=target, markers=[marker]) for run_dir, marker in found],
        report=screen.warn if args.verbose else lambda text: None,
    )
    work.start()
    try:
        while not work.is_done():
            time.sleep(_LOOK_S)
    finally:
        work.close()
    missing = [trip for trip in work.trips if not trip.is_synced]
    if missing:
        why = f" ({missing[0].error})" if missing[0].error else ""
        screen.warn(
            f"{len(missing)} of {len(found)} results are not at {target.base_url} yet{why}; `strobe sync` goes on"
        )
    else:
        screen.note(f"at {target.base_url}/benchmarks, too")
