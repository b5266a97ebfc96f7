"""The side thread that waits for pending values so that `log()` need not.

The row is in the journal already, with holes; each value follows in a fill record under the row's sequence number. A
kill before that loses the unresolved values and nothing else. At most `_MAX_ROWS` rows wait at once: a loop that
defers faster than the device computes is held back then, which bounds memory.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from strobe.run.pending import resolve_all

_MAX_ROWS = 8192


class WaitingRow(msgspec.Struct):
    """A row with holes and the values to come."""

    sequence: int
    step: int
    time_ns: int
    pending: dict[str, Any]


class Deferred:
    """Resolves pending values in the order logged. `fill(row, resolved, faults)` is called on the side thread."""

    def __init__(self, fill: Callable[[WaitingRow, dict[str, Any], dict[str, Exception]], None]) -> None:
        self._fill = fill
        self._rows: deque[WaitingRow] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._working = False

    def add(self, row: WaitingRow) -> None:
        """Take a row whose values follow."""
        with self._changed:
            while len(self._rows) >= _MAX_ROWS:
                self._changed.wait(0.1)
            self._rows.append(row)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="strobe-deferred", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def drain(self, timeout_s: float) -> int:
        """Wait until all values are in, at most `timeout_s`; return the number of rows still waiting."""
        with self._changed:
            self._changed.wait_for(lambda: not self._rows and not self._working, timeout_s)
            return len(self._rows) + self._working

    def after_fork(self) -> None:
        """Begin anew in the child: the parent's thread and its rows stay with the parent."""
        self._rows = deque()
        self._changed = threading.Condition()
        self._thread = None
        self._working = False

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._rows))
                row = self._rows.popleft()
                self._working = True
            resolved: dict[str, Any] = {}
            faults: dict[str, Exception] = {}
            for key, plain in row.pending.items():
                try:
                    resolved[key] = resolve_all(plain)
                except Exception as error:  # noqa: BLE001  # whatever the device reports belongs to this value alone
                    faults[key] = error
            self._fill(row, resolved, faults)
            with self._changed:
                self._working = False
                self._changed.notify_all()
