"""Copies of files: sharing blocks where the file system can, by the kernel where it can, else by reading.

A reflink (FICLONE on Btrfs, XFS and others; Linux only) costs nothing and is safe against later changes of either
side. A hard link is not: a file changed in place would change the copy, so links are made only where the caller
says that nobody will write.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from pathlib import Path
from typing import NamedTuple

from strobe.artifact.chunk import iter_chunks
from strobe.artifact.digest import Hasher

_FICLONE = 0x40049409
#: what a kernel or file system answers when it can't copy by itself
_UNSUPPORTED = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTTY, errno.EPERM, errno.EBADF}


class Signature(NamedTuple):
    """What changes when a file is rewritten in place or replaced."""

    device: int
    inode: int
    size: int
    modified_ns: int


def signature(file: io.FileIO) -> Signature:
    """Return what `file` looks like now."""
    status = os.fstat(file.fileno())
    return Signature(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def open_regular(path: Path) -> io.FileIO | None:
    """Open `path` for reading, or return None if it's a pipe, a device or the like (opening those may block)."""
    if not stat.S_ISREG(path.stat().st_mode):
        return None
    return io.FileIO(path)


def create(path: Path, *, mode: int = 0o666) -> io.FileIO:
    """Create `path`, which must not exist, for writing."""
    return io.FileIO(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode), "w")


def clone(source: io.FileIO, target: io.FileIO) -> bool:
    """Share the blocks of `source` with the empty `target`; False where the file system can't."""
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())
    except OSError as exc:
        if exc.errno not in _UNSUPPORTED:
            raise
        return False
    return True


def copy(source: io.FileIO, target: io.FileIO) -> None:
    """Copy all of `source` to the empty `target` as cheaply as the system can."""
    if not clone(source, target) and not _copy_in_kernel(source, target):
        copy_hashing(source, target, None)


def copy_hashing(source: io.FileIO, target: io.FileIO, hasher: Hasher | None) -> int:
    """Copy by reading, so that one pass also feeds `hasher`; return the number of bytes."""
    total = 0
    for chunk in iter_chunks(source):
        if hasher is not None:
            hasher.update(chunk)
        _write_all(target, chunk)
        total += len(chunk)
    return total


def _copy_in_kernel(source: io.FileIO, target: io.FileIO) -> bool:
    if sys.platform != "linux":
        return False
    position = 0
    while True:
        try:
            count = os.copy_file_range(source.fileno(), target.fileno(), 1 << 30, position, position)
        except OSError as exc:
            # Once something was copied an error is a real one (a full disk); at the start it may be "can't".
            if position or exc.errno not in _UNSUPPORTED:
                raise
            return False
        if count == 0:
            # Some file systems (procfs, FUSE) answer 0 for files that are not empty.
            return position > 0 or os.fstat(source.fileno()).st_size == 0
        position += count


def _write_all(target: io.FileIO, chunk: memoryview) -> None:
    while len(chunk):
        written = target.write(chunk)
        chunk = chunk[written:]
