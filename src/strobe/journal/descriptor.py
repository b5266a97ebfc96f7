"""File descriptors of segments: made so that nobody else can have made the file, closed without complaint."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def create_segment(path: Path) -> int:
    """Create the file, and its directory where that is missing, for appending; it must not exist."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        return os.open(path, flags, 0o644)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o644)


def close_descriptor(fd: int) -> None:
    """Close `fd`, if it is one."""
    # Closing may report what an earlier write could not do (NFS); there is nothing left to be done about it.
    if fd >= 0:
        with suppress(OSError):
            os.close(fd)
