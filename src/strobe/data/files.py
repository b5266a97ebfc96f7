"""Media files in a directory: `media/<kind>/<key>_<step>_<digest>.<suffix>`.

A file appears under its name whole or not at all: it is written in `.partial/` and renamed. The digest in the name
means that equal content is stored once. This module knows bytes and names, not what is in them.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

from strobe.data.filename import safe_piece, safe_suffix
from strobe.data.side import SideThread

PARTIAL = ".partial"
_STALE_S = 24 * 3600
_CHUNK = 1 << 20
#: contents remembered for dedupe across keys and steps: bounded, so that a long run does not grow
_REMEMBERED = 1024
_FICLONE = 0x40049409


class DirectoryFiles:
    """The `MediaFiles` of a run's `files/` directory. Thread safe, fork safe; raises OSError for I/O faults."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self._root = os.fspath(self.directory)
        self._numbers = itertools.count()
        self._known: dict[tuple[str, str, str], str] = {}
        self._side = SideThread("strobe-media")
        self._is_ready = False

    def write(self, kind: str, key: str, step: int, suffix: str, content: bytes | memoryview) -> str:
        """Store `content` and return its path; content stored before gives the path it has."""
        from hashlib import sha256

        digest = sha256(content).hexdigest()[:20]
        suffix = safe_suffix(suffix)
        if known := self._stored(kind, suffix, digest):
            return known
        path = _name(kind, key, step, digest, suffix)
        if not os.path.exists(f"{self._root}/{path}"):
            partial, fd = self._partial()
            self._fill(partial, fd, content)
            self._publish(partial, path)
        return self._remember(kind, suffix, digest, path)

    def copy(self, kind: str, key: str, step: int, source: Path) -> str:
        """Store what `source` holds now and return its path.

        The bytes are shared where the file system can (reflink), else copied; never hard linked, because a script
        that saves `plot.png` anew at each step writes into the same file.
        """
        suffix = safe_suffix("".join(source.suffixes[-2:]) if source.name.endswith(".json") else source.suffix)
        partial, fd = self._partial()
        try:
            with open(source, "rb") as readable, open(fd, "wb", buffering=0) as writable:
                digest = _copy(readable.fileno(), writable.fileno())
        except BaseException:
            _remove(partial)
            raise
        if known := self._stored(kind, suffix, digest):
            _remove(partial)
            return known
        path = _name(kind, key, step, digest, suffix)
        self._publish(partial, path)
        return self._remember(kind, suffix, digest, path)

    def replace(self, path: str, content: bytes | memoryview) -> None:
        """Put `content` in the place of the file at `path`, all at once; does nothing if that file is gone."""
        target = f"{self._root}/{path}"
        if os.path.exists(target):
            partial, fd = self._partial()
            self._fill(partial, fd, content)
            os.replace(partial, target)

    def read(self, path: str) -> bytes:
        return (self.directory / path).read_bytes()

    def later(self, work: Callable[[], None]) -> None:
        """Run `work` on the side thread; dropped, with no harm, if the process ends first."""
        self._side.submit(work)

    def drain(self, timeout: float | None = None) -> bool:
        """Wait for the side thread's work; False if `timeout` seconds were not enough."""
        return self._side.drain(timeout)

    def _stored(self, kind: str, suffix: str, digest: str) -> str | None:
        path = self._known.get((kind, suffix, digest))
        if path is not None and os.path.exists(f"{self._root}/{path}"):
            return path
        return None

    def _remember(self, kind: str, suffix: str, digest: str, path: str) -> str:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        self._known[kind, suffix, digest] = path
        return path

    def _partial(self) -> tuple[str, int]:
        """Create a file in `.partial/` and return its path and descriptor."""
        directory = f"{self._root}/{PARTIAL}"
        if not self._is_ready:
            os.makedirs(directory, exist_ok=True)
            _remove_stale(directory)
            self._is_ready = True
        while True:
            partial = f"{directory}/{os.getpid()}-{next(self._numbers)}"
            try:
                return partial, os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY | _O_BINARY, 0o666)
            except FileExistsError:  # the same process id on another host, or before a reboot
                continue
            except FileNotFoundError:
                os.makedirs(directory, exist_ok=True)

    def _fill(self, partial: str, fd: int, content: bytes | memoryview) -> None:
        try:
            try:
                _write_all(fd, content)
            finally:
                os.close(fd)
        except BaseException:
            _remove(partial)
            raise

    def _publish(self, partial: str, path: str) -> None:
        target = f"{self._root}/{path}"
        try:
            try:
                os.replace(partial, target)
            except FileNotFoundError:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.replace(partial, target)
        except BaseException:
            _remove(partial)
            raise


_O_BINARY = getattr(os, "O_BINARY", 0)


def _name(kind: str, key: str, step: int, digest: str, suffix: str) -> str:
    return f"media/{kind}/{safe_piece(key)}_{step}_{digest}.{suffix}"


def _write_all(fd: int, content: bytes | memoryview) -> None:
    rest = memoryview(content).cast("B")
    while len(rest):
        rest = rest[os.write(fd, rest) :]


def _copy(source: int, target: int) -> str:
    """Copy one open file into another and return the digest of what was copied."""
    from hashlib import sha256

    digest = sha256()
    is_shared = _share(source, target)
    while chunk := os.read(source, _CHUNK):
        digest.update(chunk)
        if not is_shared:
            _write_all(target, chunk)
    return digest.hexdigest()[:20]


def _share(source: int, target: int) -> bool:
    """Let `target` share the blocks of `source` (btrfs, xfs); False where that is not possible."""
    try:
        from fcntl import ioctl
    except ImportError:
        return False
    if not stat.S_ISREG(os.fstat(source).st_mode):
        return False
    try:
        ioctl(target, _FICLONE, source)
    except OSError:
        return False
    return True


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _remove_stale(directory: str) -> None:
    """Remove what killed processes left half written a day ago or longer."""
    oldest = time.time() - _STALE_S
    with os.scandir(directory) as entries:
        for entry in entries:
            try:
                if entry.stat().st_mtime < oldest:
                    os.unlink(entry.path)
            except OSError:
                continue
