"""Lines: what of a stream's text is worth recording, and when.

A complete line is passed on at once, so that a killed process loses at most the line it was writing. A line that is
being drawn over (a progress bar, a live table) is passed on in its latest state about once a second, when it is
completed, and at the end. What is passed on renders (`journal.screen`) to the same lines as what was written.
It knows text and a clock: not where text comes from nor where it goes. Not thread-safe; the capture holds the lock.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

    from strobe.journal.screen import Screen

INTERVAL_S = 1.0
# One event is at most this long; longer text becomes several.
MAX_PIECE = 256 * 1024
_MAX_TAIL = 8 * 1024
_MAX_PENDING = 64 * 1024
# Text above the cursor that a bar may come back to. Must be at least the screen's reach.
_NUM_REMEMBERED = 100

_moves: re.Pattern[str] | None = None


def _moves_cursor(text: str) -> bool:
    """Whether `text` does more than append lines and colours. Only called when it holds a suspicious character."""
    global _moves
    if _moves is None:
        import re

        _moves = re.compile(r"\r(?!\n)|\x08|\x1b(?!\[[0-9;:]*m)")
    return _moves.search(text) is not None


class Lines:
    """Takes what is written to one stream, calls `emit(text)` with what is to be recorded."""

    def __init__(
        self,
        emit: Callable[[str], None],
        *,
        interval_s: float = INTERVAL_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._emit = emit
        self._interval_s = interval_s
        self._clock = clock
        self._tail = ""
        self._tail_since = 0.0
        self._history: deque[str] = deque(maxlen=_NUM_REMEMBERED)
        # Set while lines are being drawn over: the screen as it is, and as the reader has it.
        self._screen: Screen | None = None
        # The screen of the last drawing, all but what is in the history since.
        self._parked: Screen | None = None
        self._shown: list[str] = []
        self._shown_at = (0, 0, "")
        self._pending: list[str] = []
        self._pending_size = 0
        self._drawn_at = 0.0

    def write(self, text: str) -> None:
        """Take in text, and emit what is due."""
        if self._screen is not None:
            self._draw(text)
            return
        if ("\r" in text or "\x1b" in text or "\b" in text) and _moves_cursor(text):
            self._start_drawing()
            self._draw(text)
            return
        cut = text.rfind("\n") + 1
        if cut:
            line = self._tail + text[:cut] if self._tail else text[:cut]
            self._tail = text[cut:]
            if self._tail:
                self._tail_since = self._clock()
            self._send(line)
        elif not self._tail:
            self._tail = text
            self._tail_since = self._clock()
        else:
            self._tail += text
            if len(self._tail) > _MAX_TAIL or self._clock() - self._tail_since >= self._interval_s:
                self._send_tail()

    def flush(self) -> None:
        """Emit everything, the unfinished line too."""
        if self._screen is not None:
            self._show()
        elif self._tail:
            self._send_tail()

    def _send_tail(self) -> None:
        tail, self._tail = self._tail, ""
        self._send(tail)

    def _send(self, text: str) -> None:
        if len(text) <= MAX_PIECE:
            self._history.append(text)
            self._emit(text)
            return
        self._history.append(text[-MAX_PIECE:])
        for start in range(0, len(text), MAX_PIECE):
            self._emit(text[start : start + MAX_PIECE])

    # -- drawing -----------------------------------------------------------------------------------------------------

    def _start_drawing(self) -> None:
        from strobe.journal.screen import Screen

        screen = self._parked or Screen()
        screen.feed("".join(self._history))
        self._history.clear()
        if len(screen.rows) > 2 * _NUM_REMEMBERED:
            screen.forget_above(len(screen.rows) - _NUM_REMEMBERED)
        self._shown = [screen.row_text(row) for row in range(len(screen.rows))]
        self._shown_at = (screen.row, screen.column, screen.style)
        self._screen = screen
        self._drawn_at = self._clock()
        if self._tail:
            self._pending, self._pending_size = [self._tail], len(self._tail)
            self._tail = ""

    def _draw(self, text: str) -> None:
        self._pending.append(text)
        self._pending_size += len(text)
        if self._clock() - self._drawn_at >= self._interval_s:
            self._show()
        elif "\n" in text or self._pending_size > _MAX_PENDING:
            self._digest_pending()
            screen = self._screen
            # A new row means that the one before it is complete: that must not wait.
            if screen is not None and len(screen.rows) > len(self._shown):
                self._show()

    def _digest_pending(self) -> None:
        if self._screen is not None:
            self._screen.feed("".join(self._pending))
        self._pending.clear()
        self._pending_size = 0

    def _show(self) -> None:
        """Emit what makes the reader's screen the same as ours; go back to plain lines if the drawing is over."""
        self._digest_pending()
        screen = self._screen
        if screen is None:
            return
        self._drawn_at = self._clock()
        text = self._difference(screen)
        if len(screen.rows) > 2 * _NUM_REMEMBERED:
            screen.forget_above(len(screen.rows) - _NUM_REMEMBERED)
        self._shown = list(screen.rows)
        self._shown_at = (screen.row, screen.column, screen.style)
        is_at_new_line = screen.row == len(screen.rows) - 1 and screen.column == 0 and not screen.rows[-1]
        if is_at_new_line and not screen.is_inside_sequence:
            self._parked, self._screen = screen, None
        if text:
            for start in range(0, len(text), MAX_PIECE):
                self._emit(text[start : start + MAX_PIECE])

    def _difference(self, screen: Screen) -> str:
        parts: list[str] = []
        row, shown = self._shown_at[0], self._shown
        last = len(screen.rows) - 1
        if len(shown) - 1 > last:
            # Rows were erased: erase them there too, with the one above them, which is then drawn again.
            parts += [_vertical(row, last), "\r\x1b[J"]
            row, shown = last, [*shown[:last], ""]
        for number in range(len(screen.rows)):
            text = screen.row_text(number)
            if number < len(shown) and text == shown[number]:
                continue
            parts += [_vertical(row, number), "\r\x1b[K" if number < len(shown) else "", text]
            row = number
        if not parts and self._shown_at == (screen.row, screen.column, screen.style):
            return ""
        parts += [_vertical(row, screen.row), f"\x1b[{screen.column + 1}G" if screen.column else "\r"]
        # Rows bring their own colours: the reader's pen is put down first and taken up again last.
        return ("\x1b[0m" if self._shown_at[2] else "") + "".join(parts) + screen.style


def _vertical(row: int, to: int) -> str:
    return "\n" * (to - row) if to >= row else f"\x1b[{row - to}A"
