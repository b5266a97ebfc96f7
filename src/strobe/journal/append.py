"""Appending to a file: the system call on the hot path, and which form of it a file system wants.

`os.write` gives up the GIL and gets it back up to a switch interval (5 ms) later when another Python thread is busy.
Appending to the page cache of a local disk takes a microsecond, so there the call keeps the GIL (`ctypes.PyDLL`).
On network file systems a write may take long, so the GIL is given up as usual.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

try:
    import ctypes
except ImportError:  # a Python built without libffi
    ctypes = None  # type: ignore[assignment]

#: (fd, record, length) → bytes written, or -1; never raises
Append = Callable[[int, bytes, int], int]

_NETWORK = (
    "nfs",
    "cifs",
    "smb",
    "fuse",
    "lustre",
    "ceph",
    "gpfs",
    "beegfs",
    "afs",
    "9p",
    "gluster",
    "pvfs",
    "orangefs",
    "sshfs",
    "weka",
    "panfs",
    "virtiofs",
    "vboxsf",
    "prl_fs",
    "drvfs",
)


def choose_append(directory: Path) -> Append:
    """Return the append call for files in `directory`."""
    if sys.platform == "win32" or is_network(directory):
        return _append_releasing_gil
    return _append_keeping_gil() or _append_releasing_gil


def is_network(directory: Path) -> bool:
    """Tell whether `directory` lies on a network or user-space file system."""
    return file_system(directory).startswith(_NETWORK)


def file_system(directory: Path) -> str:
    """Return the type of the file system that holds `directory` ("ext4"), or "" where it cannot be told."""
    try:
        device = os.stat(directory).st_dev
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts:
            wanted = f"{os.major(device)}:{os.minor(device)}"
            for line in mounts:
                fields = line.split(" ")
                if fields[2] == wanted:
                    return fields[fields.index("-") + 1]
    except (OSError, ValueError, IndexError, AttributeError):
        return ""
    return ""


def _append_keeping_gil() -> Append | None:
    if ctypes is None:
        return None
    try:
        # No argtypes on purpose: checking them costs 0.3 µs per call. An int and a bytes pass correctly as they are,
        # and a record is far below 2 GiB.
        write: Append = ctypes.PyDLL(None).write
    except (AttributeError, OSError, TypeError):
        return None
    return write


def _append_releasing_gil(fd: int, record: bytes, length: int) -> int:
    try:
        return os.write(fd, record)
    except OSError:
        return -1


def append_nowhere(fd: int, record: bytes, length: int) -> int:
    """Write nothing: for a writer that has no file."""
    return -1
