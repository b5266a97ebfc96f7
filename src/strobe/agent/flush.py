"""Fsync: what was logged survives a power failure about a second later, at no cost to the process that logs.

Knows file names and sizes, not what is in a segment.
"""

from __future__ import annotations

import os
from contextlib import suppress

from strobe.agent.task import WatchedRun
from strobe.journal.segment import SUFFIX

_fsync = getattr(os, "fdatasync", os.fsync)  # the size counts as data, the time of change does not


class Flusher:
    """Flushes the segments that have grown since the last look."""

    def __init__(self) -> None:
        self._flushed: dict[WatchedRun, dict[str, int]] = {}
        #: flushes done; for tests and for the curious
        self.num_flushes = 0

    def poll(self, run: WatchedRun, now: float) -> None:
        if any(entry.fsync == "agent" for entry in run.entries.values()):
            self._flush(run)

    def is_pending(self, run: WatchedRun) -> bool:
        return False

    def close(self, run: WatchedRun) -> None:
        if run in self._flushed:
            with suppress(OSError):
                self._flush(run)
            del self._flushed[run]

    def _flush(self, run: WatchedRun) -> None:
        before = self._flushed.get(run, {})
        sizes = _sizes(run.run_dir.journal)
        grown = [path for path, size in sizes.items() if before.get(path) != size]
        for path in grown:
            _flush_path(path, os.O_RDWR)  # Windows flushes only what is open for writing
        if sizes.keys() - before.keys() and os.name != "nt":
            _flush_path(str(run.run_dir.journal), os.O_RDONLY)  # a new file's name is data of its directory
        self.num_flushes += len(grown)
        self._flushed[run] = sizes


def _sizes(directory: os.PathLike[str]) -> dict[str, int]:
    found = {}
    with suppress(FileNotFoundError), os.scandir(directory) as files:
        for file in files:
            if file.name.endswith(SUFFIX):
                with suppress(FileNotFoundError):
                    found[file.path] = file.stat().st_size
    return found


def _flush_path(path: str, flags: int) -> None:
    try:
        fd = os.open(path, flags | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return
    try:
        _fsync(fd)
    finally:
        os.close(fd)
