"""Following all runs of a home: those that are written to closely, the others by a look now and then.

Which segments had been taken in up to which size is kept in the index, so that a start does not read again what has not
changed. A run that is gone from the home goes from the index, unless it can be brought back from the trash.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from strobe.agent.entry import ActiveEntries, Entry
from strobe.agent.upload.interrupt import interrupt
from strobe.api import trash
from strobe.artifact.store import projects as artifact_projects
from strobe.errors import Error, StoreBusy, StoreFull, UsageError
from strobe.home import Home, RunDir, RunPath
from strobe.journal.skim import Skim
from strobe.journal.tail import segment_sizes
from strobe.server.local.run_tail import RunTail
from strobe.server.local.store import LocalStore
from strobe.store.database import Cursor

#: how often all runs are looked at, at most, and for which part of the time
_SCAN_NS = 10**9 // 2
_SCAN_SHARE = 0.05
#: a run that was written to is followed closely for so long
_WARM_NS = 60 * 10**9
_SIGN_NS = 10 * 10**9
#: what is taken in of one run before it is another's turn: one with millions of rows must not hide the others
_BATCHES_PER_TURN = 4
#: counts changes of how journals become rows; an index of another format is made again
_FORMAT = 1
_TABLE = "CREATE TABLE IF NOT EXISTS tailed (run TEXT PRIMARY KEY, sizes BLOB NOT NULL)"
Sizes = dict[str, dict[str, int]]


class HomeTail:
    """The runs of a home on their way into its index. Used by one thread at a time."""

    def __init__(self, home: Home, store: LocalStore, clock: Callable[[], int], log: Callable[[str], None]) -> None:
        self._home = home
        self._store = store
        self._runs = store.runs
        self._clock = clock
        self._log = log
        self._active = ActiveEntries(home.active, owner=os.getuid() if hasattr(os, "getuid") else 0)
        #: runs that are being written to, or were lately, and when they last had something new
        self._tails: dict[RunPath, RunTail] = {}
        self._warm_ns: dict[RunPath, int] = {}
        store.database.write(_prepare)
        self._known: dict[RunPath, Sizes] = store.database.read(_read_known)
        self._projects: set[tuple[str, str]] = set()
        self._scan_at_ns = self._signed_ns = 0
        self._problems: dict[RunPath, str] = {}
        #: writers whose processes were asked to stop
        self._stopped: set[str] = set()

    def poll(self) -> int:
        """Take in what is new everywhere; return how many entries that were."""
        now_ns = self._clock()
        live = self._live()
        due = {path: tail.run_dir for path, tail in self._tails.items()}
        due.update((path, entries[0].run) for path, entries in live.items())
        if now_ns >= self._scan_at_ns:
            began = time.monotonic()
            due.update(self._changed())
            self._scan_at_ns = now_ns + max(_SCAN_NS, int((time.monotonic() - began) / _SCAN_SHARE * 1e9))
        due = self._without_trashed(due)
        count = sum(self._follow(path, run_dir, now_ns) for path, run_dir in sorted(due.items(), key=_newest))
        self._cool(live.keys(), now_ns)
        self._stop(live)
        if now_ns - self._signed_ns >= _SIGN_NS:
            self._signed_ns = now_ns
            self._judge(live.keys(), now_ns)
            self._forget_purged()
        return count

    def _live(self) -> dict[RunPath, list[Entry]]:
        """Return the runs with processes that live, and these."""
        found: dict[RunPath, list[Entry]] = {}
        for entry in self._active.scan().values():
            if entry.run.path.is_relative_to(self._home.runs) and entry.is_alive() is not False:
                found.setdefault(entry.run.run_path, []).append(entry)
        return found

    def _changed(self) -> dict[RunPath, RunDir]:
        """Return the runs whose journals are not as they were when they were taken in; let go of those gone."""
        self._note_projects()
        found = {run_dir.run_path: run_dir for run_dir in self._home.iter_runs()}
        if gone := self._known.keys() - found.keys() - self._runs.trashed:
            trashed = {entry.run for entry in trash.entries(self._home)}
            for path in gone & trashed:
                self._runs.hide(path, now_ns=self._clock())
            for path in gone - trashed:
                with self._runs.moving:
                    if not self._home.run_dir(path).exists():  # else it came back after all were listed
                        self._forget(path)
        return {
            path: run_dir
            for path, run_dir in found.items()
            if path in self._runs.trashed or segment_sizes(run_dir.journal) != self._known.get(path)
        }

    def _without_trashed(self, due: dict[RunPath, RunDir]) -> dict[RunPath, RunDir]:
        """Leave out runs in the trash. One that is there again, old or new, is taken in from the start."""
        for path in due.keys() & self._runs.trashed:
            with self._runs.moving:
                if path in self._runs.trashed and due[path].exists():
                    self._forget(path)
        return {path: run_dir for path, run_dir in due.items() if path not in self._runs.trashed}

    def _forget_purged(self) -> None:
        if self._runs.trashed:
            for path in self._runs.trashed - {entry.run for entry in trash.entries(self._home)}:
                self._forget(path)

    def _note_projects(self) -> None:
        """Let the index know the projects that have artifacts and no runs."""
        for entity, project in set(artifact_projects(self._home)) - self._projects:
            self._projects.add((entity, project))
            with suppress(UsageError):  # a directory that somebody else has put there
                self._store.projects.ensure(entity, project, now_ns=self._clock())

    def _follow(self, path: RunPath, run_dir: RunDir, now_ns: int) -> int:
        tail = self._tails.get(path)
        if tail is None:
            tail = self._tails[path] = RunTail(run_dir, self._store.ingest, self._clock)
            self._warm_ns[path] = now_ns
        try:
            count = tail.poll(_BATCHES_PER_TURN)
        except (StoreBusy, StoreFull):  # the fault of no run
            raise
        except (OSError, Error, ValueError, TypeError, LookupError) as error:
            # The disk, a run that is being removed, a journal that makes no sense: the others go on.
            self._note_problem(path, f"{type(error).__name__}: {error}")
            return 0
        self._note_problem(path, tail.problem)
        if tail.is_behind:
            self._warm_ns[path] = now_ns
        elif tail.sizes != self._known.get(path) and not tail.problem:
            self._remember(path, tail.sizes)
            self._warm_ns[path] = now_ns
        return count

    def _cool(self, live: Iterable[RunPath], now_ns: int) -> None:
        """Let go of runs that nobody writes to; a look at all of them finds what comes later."""
        for path in self._tails.keys() - set(live):
            if now_ns - self._warm_ns[path] > _WARM_NS:
                del self._tails[path], self._warm_ns[path]

    def _stop(self, live: dict[RunPath, list[Entry]]) -> None:
        """Interrupt the processes of runs that somebody wants to stop, as Ctrl-C would, once each."""
        indexed = [path for path in live if path in self._known]
        for path in self._store.runs.asked_to_stop(indexed) if indexed else ():
            for entry in live[path]:
                if entry.writer not in self._stopped:
                    self._stopped.add(entry.writer)
                    interrupt(entry)

    def _judge(self, live: Iterable[RunPath], now_ns: int) -> None:
        """Tell the store which runs live, and which have died without a word."""
        self._store.runs.note_alive(sorted(live, key=str), now_ns=now_ns)
        for row in self._store.runs.in_state("running"):
            run_dir = self._home.run_dir(row.path)
            if row.path not in set(live) and run_dir.exists() and (state := Skim(run_dir).state) != "running":
                self._store.runs.judge(row.id, state, now_ns=now_ns)

    def _remember(self, path: RunPath, sizes: Sizes) -> None:
        self._known[path] = sizes
        body = msgspec.json.encode(sizes)
        self._store.database.write(
            lambda cursor: cursor.run(
                "INSERT INTO tailed VALUES (?, ?) ON CONFLICT (run) DO UPDATE SET sizes = excluded.sizes",
                str(path),
                body,
            )
        )

    def _forget(self, path: RunPath) -> None:
        self._store.database.write(lambda cursor: _forget_run(cursor, path))
        for kept in (self._known, self._tails, self._warm_ns, self._problems):
            kept.pop(path, None)
        self._runs.trashed.discard(path)

    def _note_problem(self, path: RunPath, problem: str) -> None:
        if self._problems.get(path, "") != problem:
            self._problems[path] = problem
            self._log(f"run {path} cannot be followed: {problem}" if problem else f"run {path} is followed again")


def _prepare(cursor: Cursor) -> None:
    cursor.run(_TABLE)
    found = cursor.one("PRAGMA user_version")
    if found != (_FORMAT,):
        forget_runs(cursor)
        cursor.run(f"PRAGMA user_version = {_FORMAT}")


def _read_known(cursor: Cursor) -> dict[RunPath, Sizes]:
    """Return the runs of the index with what is known of their journals: nothing, if a kill came in between."""
    rows = cursor.all("SELECT entity, project.name, run.name FROM run JOIN project ON project.id = run.project_id")
    known: dict[RunPath, Sizes] = {RunPath(*row): {} for row in rows}
    for run, sizes in cursor.all("SELECT run, sizes FROM tailed"):
        known[RunPath.parse(run)] = msgspec.json.decode(sizes)
    return known


def _forget_run(cursor: Cursor, path: RunPath) -> None:
    cursor.run("DELETE FROM tailed WHERE run = ?", str(path))
    cursor.run(
        "DELETE FROM run WHERE name = ? AND project_id = (SELECT id FROM project WHERE entity = ? AND name = ?)",
        path.id,
        path.entity,
        path.project,
    )


def forget_runs(cursor: Cursor) -> None:
    """Empty the index, so that it is made again; views, rules and the like stay."""
    cursor.run(_TABLE)
    cursor.run("DELETE FROM tailed")
    cursor.run("DELETE FROM run")


def _newest(item: tuple[RunPath, RunDir]) -> float:
    """Order runs so that those which were written to last are shown first."""
    try:
        return -Path(item[1].journal).stat().st_mtime
    except OSError:
        return 0.0
