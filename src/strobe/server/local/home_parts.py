"""What of a store lies in the home itself: files, edits, and removed runs."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from strobe.api import trash
from strobe.api.edit import write_edits
from strobe.errors import NotInStore, RunNotFound
from strobe.home import Home, RunPath
from strobe.journal.event import Event
from strobe.journal.segment import list_segments, parse_name
from strobe.server.local.run_tail import RunTail
from strobe.store.contents import Contents
from strobe.store.database import Cursor, Database
from strobe.store.files import Files, RunFile
from strobe.store.ingest import Ingest
from strobe.store.runs import Runs, find_run

_PIECE_BYTES = 1 << 20


class HomeRuns(Runs):
    """The runs of a home. What is removed goes to its trash; the index keeps it, hidden, until the trash is emptied."""

    def __init__(self, database: Database, home: Home, ingest: Ingest) -> None:
        super().__init__(database)
        self._home = home
        self._ingest = ingest
        #: held while a run comes back from the trash, and by whoever judges from what lies where that a run is gone
        self.moving = threading.Lock()
        #: the runs that are hidden
        self.trashed: set[RunPath] = database.read(_read_hidden)

    def delete(self, path: RunPath, *, now_ns: int) -> None:
        try:
            trash.put(self._home, self._home.run_dir(path), now_ns=now_ns)
        except RunNotFound as error:
            raise NotInStore(str(error)) from error
        self.hide(path, now_ns=now_ns)

    def hide(self, path: RunPath, *, now_ns: int) -> None:
        """Hide a run that has gone to the trash."""
        with suppress(NotInStore):  # it was removed before it was ever taken in
            super().delete(path, now_ns=now_ns)
            self.trashed.add(path)

    def undelete(self, path: RunPath, *, now_ns: int) -> None:
        version = 0
        with self.moving:
            entry = next((entry for entry in trash.entries(self._home) if entry.run == path), None)
            if entry is None:
                raise NotInStore(f"run {path} is not in the trash of {self._home.path}")
            trash.restore(self._home, entry)
            with suppress(NotInStore):  # what is hidden takes nothing in; it is made again
                version = self._database.read(lambda cursor: find_run(cursor, path, with_deleted=True)).version
                self.remove(path)
            self.trashed.discard(path)
        # Not left to those who follow the home: whoever brings a run back looks at it next.
        RunTail(self._home.run_dir(path), self._ingest, lambda: now_ns).poll()
        # Those who heard of the deletion late know by the version that it is over.
        self._database.write(lambda cursor: _raise_version(cursor, path, version))


def _raise_version(cursor: Cursor, path: RunPath, by: int) -> None:
    cursor.run("UPDATE run SET version = version + ? WHERE id = ?", by, find_run(cursor, path).id)


def _read_hidden(cursor: Cursor) -> set[RunPath]:
    rows = cursor.all(
        "SELECT entity, project.name, run.name FROM run JOIN project ON project.id = run.project_id "
        "WHERE run.deleted_ns IS NOT NULL"
    )
    return {RunPath(*row) for row in rows}


class HomeEdits:
    """Edits as journals of the run; the index follows them like everything else."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def write(self, path: RunPath, events: Sequence[Event], *, now_ns: int) -> None:
        run_dir = self._home.run_dir(path)
        segments = list_segments(run_dir.journal)
        if not segments:
            raise NotInStore(f"there is no run {path} in {self._home.path}")
        write_edits(run_dir, events, attempt=max(parse_name(segment)[0] for segment in segments))


class HomeFile(RunFile, frozen=True, kw_only=True):
    """A file and where it lies."""

    place: str


class HomeFiles(Files):
    """Files of runs where they lie. Their digests say when they changed, not what is in them."""

    def __init__(self, contents: Contents, home: Home) -> None:
        super().__init__(contents)
        self._home = home

    def get(self, run_id: int, path: str) -> RunFile:
        root = self._root(run_id)
        # A link inside of the run's own directory may be followed, one that leads elsewhere not.
        place = (root / path).resolve()
        if not place.is_relative_to(root.resolve()) or not place.is_file():
            raise NotInStore(f"the run has no file {path!r}")
        return HomeFile(**msgspec.structs.asdict(_describe(path, place)), place=str(place))

    def list(self, run_id: int, *, prefix: str = "", after: str = "", limit: int = 1000) -> list[RunFile]:
        root = self._root(run_id)
        names = sorted(
            name
            for folder, _, files in os.walk(root)
            for file in files
            if (name := (Path(folder) / file).relative_to(root).as_posix()).startswith(prefix) and name > after
        )
        found = []
        for name in names[:limit]:
            try:
                found.append(_describe(name, root / name))
            except FileNotFoundError:
                continue  # removed since it was listed
        return found

    def read(self, file: RunFile, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        left = file.size - start if stop is None else stop - start
        assert isinstance(file, HomeFile), "only what get() gave can be read"
        with open(file.place, "rb") as stream:
            stream.seek(start)
            while left > 0 and (piece := stream.read(min(left, _PIECE_BYTES))):
                left -= len(piece)
                yield piece

    def _root(self, run_id: int) -> Path:
        row = self._database.read(
            lambda cursor: cursor.one(
                "SELECT p.entity, p.name, r.name FROM run r JOIN project p ON p.id = r.project_id WHERE r.id = ?",
                run_id,
            )
        )
        if row is None:
            raise NotInStore(f"there is no run with the number {run_id}")
        return self._home.run_dir(RunPath(*row)).files


def _describe(path: str, place: Path) -> RunFile:
    status = place.stat()
    stamp = f"{place}\0{status.st_size}\0{status.st_mtime_ns}".encode(errors="surrogateescape")
    return RunFile(
        path=path,
        size=status.st_size,
        sha256=hashlib.sha256(stamp).hexdigest(),
        md5="",
        mtime_ns=status.st_mtime_ns,
        policy="live",
        uploaded_ns=status.st_mtime_ns,
    )
