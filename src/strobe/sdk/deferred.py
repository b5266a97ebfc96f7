"""The side thread that looks for pending values so that `log()` need not wait.

The row is in the journal already, with holes; each value follows in a fill record under the row's sequence number. A
kill before that loses the unresolved values and nothing else. The thread asks, it never waits inside a foreign
library: one that is stuck there when the interpreter ends aborts the process. What waits at once is bounded; a loop
that defers faster than the device computes is held back then.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from itertools import count, islice
from time import monotonic
from typing import Any

import msgspec

from strobe.sdk.pending import iter_pending, resolve_all

MAX_ROWS = 8192
MAX_BYTES = 256 << 20
#: so many of the oldest rows are looked at: one slow value does not hold up all others
_WINDOW = 64
_SHORTEST_PAUSE_S = 0.0005
_LONGEST_PAUSE_S = 0.02
#: how long the end waits for the thread to leave what it is doing
_STOP_S = 5.0


class WaitingRow(msgspec.Struct, eq=False):
    """A row with holes and the values to come."""

    sequence: int
    step: int
    time_ns: int
    pending: dict[str, Any]


Fill = Callable[[WaitingRow, dict[str, Any], dict[str, Exception]], None]


class Deferred:
    """Supplies pending values as they come: `fill(row, resolved, faults)` is called on the side thread."""

    def __init__(self, fill: Fill, *, max_rows: int = MAX_ROWS, max_bytes: int = MAX_BYTES) -> None:
        self._fill = fill
        self._max_rows = max_rows
        self._max_bytes = max_bytes
        self._numbers = count()
        self._inherited: list[Any] = []
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._rows: OrderedDict[int, tuple[WaitingRow, int]] = OrderedDict()
        self._nbytes = 0
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, row: WaitingRow) -> None:
        """Take a row whose values follow; returns late if too much is waiting already."""
        nbytes = sum(value.nbytes for value in iter_pending(row.pending))
        with self._changed:
            if not self._stop.is_set():
                # Reentrant, as a signal handler may log while this thread is here.
                self._rows[next(self._numbers)] = (row, nbytes)
                self._nbytes += nbytes
                self._start_thread()
                self._changed.notify_all()
                while self._is_full and self._thread is not None:
                    self._changed.wait(0.1)
                return
        late = RuntimeError("it was logged while the run was ending")
        self._fill(row, {}, dict.fromkeys(row.pending, late))

    @property
    def _is_full(self) -> bool:
        return len(self._rows) > self._max_rows or (self._nbytes > self._max_bytes and len(self._rows) > 1)

    def close(self, timeout_s: float) -> int:
        """Wait for what is still to come, at most `timeout_s`, and give up the rest: return the number of values."""
        deadline = monotonic() + timeout_s
        with self._changed:
            while self._rows and (left_s := deadline - monotonic()) > 0:
                if self._thread is None:
                    # No thread could be started, as at the interpreter's shutdown.
                    self._look()
                self._changed.wait(min(left_s, _LONGEST_PAUSE_S if self._thread is None else left_s))
            self._stop.set()
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(_STOP_S)
        return sum(len(row.pending) for row, _ in self._rows.values())

    def after_fork(self) -> None:
        """Begin anew in the child: the parent's thread and its rows stay with the parent."""
        # The child must not run the finalizers of the parent's device memory, so what it inherited is kept.
        self._inherited.append(self._rows)
        self._begin_anew()

    # -- the side thread ---------------------------------------------------------------------------------------------

    def _start_thread(self) -> None:
        if self._thread is None and not self._stop.is_set():
            # Set before the start, in the middle of which a signal handler may log.
            self._thread = threading.Thread(target=self._work, args=(self._stop,), name="strobe-deferred", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # no more threads to be had here; the rows wait for close()
                self._thread = None

    def _work(self, stop: threading.Event) -> None:
        try:
            self._look_until(stop)
        finally:
            with self._changed:
                self._thread = None
                self._changed.notify_all()

    def _look_until(self, stop: threading.Event) -> None:
        pause_s = _SHORTEST_PAUSE_S
        while not stop.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._rows or stop.is_set())
            if self._look():
                pause_s = _SHORTEST_PAUSE_S
            else:
                stop.wait(pause_s)
                pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)

    def _look(self) -> bool:
        """Go through the oldest rows once and supply what has come; return whether anything had."""
        with self._changed:
            oldest = list(islice(self._rows.items(), _WINDOW))
        found = False
        for number, (row, nbytes) in oldest:
            if self._supply(row):
                found = True
            if not row.pending:
                with self._changed:
                    del self._rows[number]
                    self._nbytes = self._nbytes - nbytes if self._rows else 0
                    self._changed.notify_all()
        return found

    def _supply(self, row: WaitingRow) -> bool:
        resolved: dict[str, Any] = {}
        faults: dict[str, Exception] = {}
        for key, plain in row.pending.items():
            try:
                if all(value.is_ready() for value in iter_pending(plain)):
                    resolved[key] = resolve_all(plain)
            except Exception as error:  # noqa: BLE001  # whatever the device reports belongs to this value alone
                faults[key] = error
        for key in (*resolved, *faults):
            del row.pending[key]
        if not resolved and not faults:
            return False
        try:
            self._fill(row, resolved, faults)
        except Exception as error:  # noqa: BLE001  # the thread must live on, or log() would be held back for ever
            self._fill(row, {}, dict.fromkeys(resolved, error))
        return True
