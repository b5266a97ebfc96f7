"""An exclusive lock that ends with its process, however that dies: flock on POSIX, msvcrt on Windows.

The lock file is removed on release, so a holder must be sure that the file it locked is the one still lying there.
Where the home's file system knows no locks, a file in the machine's temporary directory serves: the seat belongs to one
machine anyway.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from zlib import crc32

_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}


class Lock:
    """The lock at `path`; `acquire()` never waits."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = -1
        self._is_local = False

    def acquire(self) -> bool:
        """Take the lock if it is free. Raises OSError if there can be no lock file."""
        while True:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
            try:
                if not _try_lock(fd):
                    os.close(fd)
                    return False
            except OSError as error:
                os.close(fd)
                if error.errno not in _NO_LOCKS or self._is_local:
                    raise
                self.path, self._is_local = self._local_path(), True
                continue
            self._fd = fd
            if self.is_held():
                return True
            # The last holder removed the file between our opening and locking it.
            os.close(fd)
            self._fd = -1

    def is_held(self) -> bool:
        """Tell whether we hold the lock that others see; False once somebody has deleted the file or the home."""
        if self._fd < 0:
            return False
        try:
            ours, theirs = os.fstat(self._fd), os.stat(self.path)
        except OSError:
            return False
        return (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino)

    def release(self) -> None:
        """Give the lock up and remove its file."""
        if self._fd < 0:
            return
        if self.is_held() and sys.platform != "win32":
            with suppress(OSError):
                os.unlink(self.path)
        os.close(self._fd)
        self._fd = -1

    def _local_path(self) -> str:
        directory = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"
        name = f"strobe-{crc32(os.path.abspath(self.path).encode(errors='surrogateescape')):08x}"
        return os.path.join(directory, f"{name}-{os.path.basename(self.path)}")


if sys.platform == "win32":
    import msvcrt

    def _try_lock(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EDEADLK}:
                return False
            raise
        return True

else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES}:
                return False
            raise
        return True
