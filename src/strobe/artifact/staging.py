"""Where the contents of drafts wait: one directory per process and home, swept when the process is gone.

    <home>/artifacts/staging/<token>/       files of drafts that were not logged yet
    <home>/artifacts/staging/<token>.lock   locked as long as the process lives

The files lie in the home so that logging a draft moves them instead of copying them a second time. That is the
current run's home, or the default one (strobe.artifact.context).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from pathlib import Path

from strobe.artifact import context
from strobe.artifact.atomic import token

#: what can't be judged by its lock (other systems, some network file systems) is left alone this long
_FORGOTTEN_S = 7 * 24 * 3600.0

_stagings: dict[tuple[int, Path], Staging] = {}


class Staging:
    """A directory of this process; a forked child gets one of its own."""

    def __init__(self, directory: Path) -> None:
        name = token()
        directory.mkdir(parents=True, exist_ok=True)
        # The lock is held before the directory exists, so that no sweeper takes a new one for an orphan.
        self._lock = _lock(directory / f"{name}.lock", create=True)
        self.path = directory / name
        self.path.mkdir()
        self._number = 0

    def new_path(self) -> Path:
        """Return a path in here that nothing has used."""
        self._number += 1
        return self.path / f"{self._number}-{token()}"


def current() -> Staging:
    """Return this process's staging directory in the current home."""
    directory = context.current_home().artifacts / "staging"
    key = (os.getpid(), directory)
    staging = _stagings.get(key)
    if staging is None or not staging.path.is_dir():
        sweep(directory)
        staging = _stagings[key] = Staging(directory)
    return staging


def sweep(directory: Path) -> int:
    """Remove what processes that are gone have left; return how many directories that were."""
    try:
        names = os.listdir(directory)
    except OSError:
        return 0
    for name in names:
        if name.endswith(".lock") and name.removesuffix(".lock") not in names:
            _remove_lone_lock(directory / name)
    return sum(_sweep_one(directory / name) for name in names if not name.endswith(".lock"))


def _remove_lone_lock(path: Path) -> None:
    """Remove the lock of a process that was killed before it had a directory, unless it may be about to make one."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _FORGOTTEN_S:
            path.unlink()


def _sweep_one(path: Path) -> bool:
    lock_path = path.with_name(f"{path.name}.lock")
    try:
        lock = _lock(lock_path, create=False)
        if lock is None and time.time() - path.stat().st_mtime < _FORGOTTEN_S:
            return False
    except (BlockingIOError, FileNotFoundError):
        return False
    shutil.rmtree(path, ignore_errors=True)
    lock_path.unlink(missing_ok=True)
    if lock is not None:
        os.close(lock)
    return True


def _lock(path: Path, *, create: bool) -> int | None:
    """Lock `path`: the descriptor on success, None where that can't be; BlockingIOError if another holds it."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        descriptor = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), 0o666)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
