"""Memory for large payloads, used again when nobody holds it any more.

Fresh memory costs as much as sealing what goes into it: the system clears each page when it is touched first. It is not
touched before the payload comes, so who announces much and sends little costs no time and no memory. Whether somebody
still holds a view of a buffer is asked of the buffer itself: Python refuses to resize what is exported.
"""

from __future__ import annotations

import ctypes

#: A pool keeps at most this many bytes that nobody may ever want again.
_MAX_BYTES = 128 << 20
_MAX_BUFFERS = 16
_LEAST = 256 << 10
#: A bytearray as the system gives the memory: `bytearray(size)` clears all of it at once, 0.2 s for 256 MB.
_fresh = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t)(
    ("PyByteArray_FromStringAndSize", ctypes.pythonapi)
)


class Buffers:
    """The large buffers that one network has handed out lately."""

    __slots__ = ("_known", "_touched")

    def __init__(self) -> None:
        self._known: list[bytearray] = []
        self._touched = False

    def take(self, size: int) -> memoryview:
        """Return a writable view of exactly `size` bytes, whose content is whatever was there before.

        Hand it out only after all of it was overwritten.
        """
        if size < _LEAST:
            return memoryview(bytearray(size))
        self._touched = True
        for known in self._known:
            if size <= len(known) <= size + (size >> 2) and _is_free(known):
                return memoryview(known)[:size]
        buffer: bytearray = _fresh(None, size)
        if len(self._known) >= _MAX_BUFFERS:
            self._known.pop(0)
        if sum(map(len, self._known)) + size <= _MAX_BYTES:
            self._known.append(buffer)
        return memoryview(buffer)

    def sweep(self) -> None:
        """Give the memory back when no large payload has come since the last time."""
        if not self._touched:
            self._known.clear()
        self._touched = False


def _is_free(buffer: bytearray) -> bool:
    last = buffer[-1]
    try:
        buffer.pop()
    except BufferError:
        return False
    buffer.append(last)  # within what is allocated: nothing moves
    return True
