"""The heap: what one question frees, the next one uses.

A chart takes about a megabyte of arrays and frees them with its answer. glibc gives such blocks back to the system, and
the system clears and maps them anew for the next chart, which took more than a third of its time. How large a block
must be to be given back glibc learns from the largest one that was freed (mallopt(3), M_MMAP_THRESHOLD); so it is shown
one, which is never touched and therefore costs nothing. Other allocators do not mind.
"""

from __future__ import annotations

import numpy as np

#: free memory is kept up to twice as much
LARGEST_KEPT = 8 << 20


def keep_freed() -> None:
    """Have blocks of up to `LARGEST_KEPT` bytes reused instead of given back."""
    np.empty(LARGEST_KEPT, np.uint8)
