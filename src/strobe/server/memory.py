"""What a process that runs for months keeps in memory: the C library's habits, where they do not suit a server.

glibc gives threads heaps of their own, up to eight for each core, and what was freed in one is not used by another. A
server takes batches in on whichever thread is free, so each heap in turn grows to the size of the largest batches.
"""

from __future__ import annotations

import ctypes
import sys

_M_ARENA_MAX = -8
#: Python's lock lets threads hardly ever allocate at the same time
_HEAPS = 2


def share_heaps() -> bool:
    """Let all threads that begin from now on use a few heaps; tell whether the C library does so."""
    if sys.platform != "linux":
        return False
    # Other C libraries have no such function, or one that does nothing and says so.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and bool(mallopt(_M_ARENA_MAX, _HEAPS))
