"""A progress bar as hivemind's scripts show it: share, bar, count, time gone and left, rate."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

_WIDTH = 100


class Bar:
    """One bar on stderr. On a terminal it moves; elsewhere only its last state is written."""

    def __init__(
        self, total: int, *, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._stream = stream or sys.stderr
        self._clock = clock
        self._began = clock()
        self._is_moving = self._stream.isatty()
        self._is_done = False

    def show(self, done: int) -> None:
        """Draw the bar with so many steps done; the last one ends its line."""
        if self._is_done:
            return
        self._is_done = done >= self._total
        if self._is_moving:
            self._stream.write("\r")
        if self._is_moving or self._is_done:
            self._stream.write(bar_text(done, self._total, self._clock() - self._began))
        if self._is_done:
            self._stream.write("\n")
        self._stream.flush()


def bar_text(done: int, total: int, elapsed_s: float) -> str:
    """Return the line: ` 50%|#####     | 512/1024 [00:10<00:10, 51.20it/s]`."""
    share = done / total if total else 1.0
    rate = done / elapsed_s if elapsed_s > 0 else 0.0
    left = _clock_text((total - done) / rate) if rate else "?"
    speed = f"{rate:5.2f}it/s" if rate >= 1 or not rate else f"{1 / rate:5.2f}s/it"
    tail = f"| {done}/{total} [{_clock_text(elapsed_s)}<{left}, {speed}]"
    room = max(_WIDTH - len(tail) - 5, 8)
    filled = int(share * room)
    return f"{share:4.0%}|{'█' * filled}{' ' * (room - filled)}{tail}"


def _clock_text(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"
