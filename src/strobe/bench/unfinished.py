"""Rows of a session while it runs, written down repeat by repeat: a kill or a power cut costs none that is done.

Beside the file of results lies one file per session. A line of it is a row as it stood after a repeat, with those
repeats only that no earlier line of the row has, so that many repeats cost no more than their samples. Once the rows
are among the results the file goes; what a session left that never got so far, the next reader of the results takes in.
"""

from __future__ import annotations

import glob
from pathlib import Path
from types import TracebackType

import msgspec

from strobe.agent.lock import Lock
from strobe.bench.records import Record, append_records, make_id, read_records
from strobe.errors import UsageError
from strobe.settings.notice import warn_once

_SUFFIX = ".unfinished"


class Unfinished:
    """The rows of this session; others leave them alone for as long as it lives."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._path = results.parent / f"{results.name}.{make_id()}{_SUFFIX}"
        self._lock = _lock_of(self._path)
        self._num_written: dict[str, int] = {}
        # Beside a device, such as /dev/stdout, is no place for files.
        self._is_wanted = not results.exists() or results.is_file()
        self._is_kept = False

    def __enter__(self) -> Unfinished:
        try:
            self._results.parent.mkdir(parents=True, exist_ok=True)
            if self._is_wanted or self._results.is_dir():  # to open a pipe would be to wait for its reader
                self._results.open("ab").close()
        except OSError as exc:  # said now, rather than after hours of measuring
            raise UsageError(
                f"results cannot be written to {self._results}: {exc.strerror or exc}; --results names another file"
            ) from exc
        try:
            self._is_kept = self._is_wanted and self._lock.acquire()
        except OSError as exc:
            warn_once(str(self._path), f"results are written only when the session ends: {exc}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def write(self, record: Record) -> None:
        """Note how a row stands; what a full disk does not take, the next line of the row brings along."""
        if not self._is_kept:
            return
        known = self._num_written.get(record.id, 0)
        append_records(self._path, [msgspec.structs.replace(record, repeats=record.repeats[known:])])
        self._num_written[record.id] = len(record.repeats)

    def discard(self) -> None:
        """Forget the rows: they are among the results."""
        self._path.unlink(missing_ok=True)


def settle(results: Path) -> list[Record]:
    """Take the rows of sessions that did not live to see their end in among the results; return those that are new."""
    taken: list[Record] = []
    for path in sorted(results.parent.glob(f"{glob.escape(results.name)}.*{_SUFFIX}")):
        try:
            taken += _take_in(path, results)
        except OSError as exc:  # somebody else's home, perhaps: what is there can be read all the same
            warn_once(str(path), f"{path}: rows of a session that did not end cannot be taken in ({exc})")
    return taken


def read_results(results: Path) -> list[Record]:
    """Return all records of a file of results, those of sessions included that were killed."""
    settle(results)
    return list(read_records(results))


def _take_in(path: Path, results: Path) -> list[Record]:
    lock = _lock_of(path)
    if not lock.acquire():  # its session is not over
        return []
    try:
        # Where the session died between the two, its rows are there already.
        known = {record.id for record in read_records(results)} if results.is_file() else set()
        new = [record for record in _read_rows(path) if record.id not in known]
        append_records(results, new)
        path.unlink()
    except FileNotFoundError:  # somebody was faster
        return []
    finally:
        lock.release()
    return new


def _read_rows(path: Path) -> list[Record]:
    found: dict[str, Record] = {}
    for record in read_records(path):
        earlier = found[record.id].repeats if record.id in found else ()
        found[record.id] = msgspec.structs.replace(record, repeats=(*earlier, *record.repeats))
    return list(found.values())


def _lock_of(path: Path) -> Lock:
    return Lock(f"{path}.lock")
