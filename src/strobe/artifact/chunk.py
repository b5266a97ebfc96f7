"""A file's content in chunks, read without moving the file's position.

Several threads may read one held file at once (a side thread that stores it, a caller who asks for its digest); a
shared position would hand each of them half of the bytes.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator

SIZE = 1 << 20


def iter_chunks(file: io.FileIO) -> Iterator[memoryview]:
    """Yield all that `file` holds. Each chunk is valid until the next; large reads let other threads run."""
    view = memoryview(bytearray(SIZE))
    position = 0
    while count := _read_at(file, view, position):
        yield view[:count]
        position += count


def _read_at(file: io.FileIO, view: memoryview, position: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(file.fileno(), [view], position)
    # Windows: there every reader has opened the file for itself, see Source.open.
    file.seek(position)
    return file.readinto(view) or 0
