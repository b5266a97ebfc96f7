"""Blobs in a directory: a file each, which appears by rename after its bytes were forced to the disk.

    <root>/sha256/ab/cdef…      a key is a path below the root
    <root>/incoming/<token>     drafts; a killed process leaves one, and gc deletes it

Directories are never removed, so that making one and renaming into it can't race with a deletion.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from strobe.errors import NotInStore, StoreError, StoreFull
from strobe.store.blobs.blob import PIECE_BYTES, Blob, check_key, check_prefix

INCOMING = "incoming"

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class DirectoryBlobs:
    """Blobs under `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def draft(self) -> DirectoryDraft:
        return DirectoryDraft(self.root)

    def put(self, key: str, pieces: Iterable[bytes], *, size: int | None = None) -> None:
        check_key(key)
        with self.draft() as draft:
            for piece in pieces:
                draft.write(piece)
            draft.commit(key)

    def read(self, key: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        path = self.root / check_key(key)
        with _translated(path):
            try:
                descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
                raise NotInStore(f"there is no blob {key!r} in {self.root}") from error
        return _pieces(descriptor, path, start, stop)

    def stat(self, key: str) -> Blob | None:
        path = self.root / check_key(key)
        with _translated(path):
            try:
                status = path.stat()
            except (FileNotFoundError, NotADirectoryError):
                return None
        return Blob(key, status.st_size, status.st_mtime_ns) if path.is_file() else None

    def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            path = self.root / check_key(key)
            with _translated(path):
                path.unlink(missing_ok=True)

    def list(self, prefix: str = "") -> Iterator[Blob]:
        top = self.root / check_prefix(prefix)
        for folder, _, names in os.walk(top):
            for name in names:
                path = Path(folder, name)
                try:
                    status = path.stat()
                except FileNotFoundError:
                    continue  # deleted meanwhile
                yield Blob(path.relative_to(self.root).as_posix(), status.st_size, status.st_mtime_ns)


class DirectoryDraft:
    """A file that has no place yet."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._path = root / INCOMING / secrets.token_hex(16)
        with _translated(self._path):
            root.mkdir(parents=True, exist_ok=True, mode=0o700)  # what is in there may be private
            self._path.parent.mkdir(exist_ok=True)
            self._file = open(self._path, "xb", buffering=0)  # noqa: SIM115  # it lives as long as the draft

    def write(self, piece: bytes) -> None:
        rest = memoryview(piece)
        with _translated(self._path):
            while rest:  # a nearly full disk takes a part of it before it refuses the rest
                rest = rest[self._file.write(rest) :]

    def commit(self, key: str) -> None:
        target = self._root / check_key(key)
        with _translated(target):
            os.fsync(self._file.fileno())
            self._file.close()
            _make_directory(target.parent)
            os.replace(self._path, target)
            _sync_directory(target.parent)

    def discard(self) -> None:
        self._file.close()
        with _translated(self._path):
            self._path.unlink(missing_ok=True)

    def __enter__(self) -> DirectoryDraft:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()


def _pieces(descriptor: int, path: Path, start: int, stop: int | None) -> Iterator[bytes]:
    # Opened before the first piece is asked for, so that a blob that is deleted now can still be read to its end.
    with open(descriptor, "rb", buffering=0) as file:
        with _translated(path):
            file.seek(start)
        left = None if stop is None else max(0, stop - start)
        while left is None or left > 0:
            with _translated(path):
                piece = file.read(PIECE_BYTES if left is None else min(PIECE_BYTES, left))
            if not piece:
                return
            if left is not None:
                left -= len(piece)
            yield piece


def _make_directory(path: Path) -> None:
    """Make a directory with what is above it; their names are forced to the disk, too, or files in them could go."""
    if not path.is_dir():
        _make_directory(path.parent)
        path.mkdir(exist_ok=True)
        _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    """Force the new name to the disk; systems that can't open directories do that by themselves."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise StoreFull(f"{path}: {error.strerror}; make room on its disk, senders will send again") from error
        raise StoreError(f"{path}: {error.strerror or error}; the server must be able to read and write it") from error
