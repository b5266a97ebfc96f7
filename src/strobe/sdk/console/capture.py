"""Console capture: what the process prints, also recorded, without changing what reaches the terminal.

    wrap      around `write` of the objects in sys.stdout and sys.stderr: Python's own output
    redirect  at the file descriptors (redirect.py): also C libraries and child processes
    auto      wrap
    off       nothing

The capture calls `emit(stream, text)`; where that goes is not its business. No lock is held meanwhile, because emit
may wait for a lock whose owner is just printing something. What emit itself prints is not captured.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock, get_ident
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from strobe import terminal
from strobe.sdk.console.lines import INTERVAL_S, Lines
from strobe.sdk.program import watch_cells

if TYPE_CHECKING:
    from strobe.sdk.console.redirect import Redirect

MODES = ("auto", "wrap", "redirect", "off")
STREAMS = ("stdout", "stderr")

_MAX_PENDING = 1_000

Emit = Callable[[str, str], None]


class ConsoleCapture:
    """Records stdout and stderr from `start()` to `stop()`. Both may be called twice; prints from any thread."""

    def __init__(self, emit: Emit, mode: str = "auto", *, interval_s: float = INTERVAL_S) -> None:
        if mode not in MODES:
            raise ValueError(f"console mode {mode!r}; use {', '.join(MODES)}")
        #: what is really done; redirect falls back to wrap where it cannot be done
        self.mode = "wrap" if mode == "auto" else mode
        self.is_active = False
        self._has_failed = False
        self._emit = emit
        self.interval_s = interval_s
        self._taps: list[_Tap] = []
        self._leave_cells: Callable[[], None] = _nothing
        self._redirect: Redirect | None = None
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._lines = {name: Lines(self._collect(name), interval_s=self.interval_s) for name in STREAMS}
        self._lock = allocate_lock()
        self._computing = 0
        self._late: deque[tuple[str, str]] = deque()
        self._turn = allocate_lock()
        self._emitting = 0
        self._due: deque[tuple[str, str]] = deque()

    def _collect(self, name: str) -> Callable[[str], None]:
        def collect(text: str) -> None:
            self._due.append((name, text))

        return collect

    def start(self) -> None:
        """Begin to record. Never raises: where it cannot be done it says so once."""
        if self.is_active or self.mode == "off":
            return
        self.is_active = True
        if self.mode == "redirect" and not self._start_redirect():
            self.mode = "wrap"
        if self.mode == "wrap":
            seen: list[object] = []
            for name in STREAMS:
                stream = getattr(sys, name)
                # stdout and stderr may be one object: its text is recorded once.
                if stream is not None and not any(stream is other for other in seen):
                    seen.append(stream)
                    self._taps.append(_Tap(self, name, stream))
            self._leave_cells = watch_cells(self.renew)

    def renew(self) -> None:
        """Wrap again what somebody has unwrapped: IPython puts back its own `write` at the end of every cell."""
        for index, tap in enumerate(self._taps):
            if not tap.is_heard():
                self._taps[index] = _Tap(self, tap.name, tap.stream)
                self._taps[index].pending.extend(tap.pending)

    def _start_redirect(self) -> bool:
        from strobe.sdk.console.redirect import CannotRedirect, Redirect

        redirect = Redirect(self.take)
        try:
            redirect.start()
        except (CannotRedirect, OSError) as error:
            terminal.warn_once("console:redirect", f"console=redirect is not possible here ({error}); using wrap")
            return False
        self._redirect = redirect
        return True

    def stop(self) -> None:
        """Record the unfinished lines and leave the streams as they were, unless somebody else changed them since."""
        if not self.is_active:
            return
        if self._redirect is not None:
            self._redirect.stop()
            self._redirect = None
        self._leave_cells()
        for tap in reversed(self._taps):
            tap.remove()
            if rest := tap.take_pending():
                self.take(tap.name, rest)
        self._taps.clear()
        self.is_active = False
        if not self._has_failed:
            with self._lock:
                for lines in self._lines.values():
                    lines.flush()
            self._pass_on()

    def after_fork(self, emit: Emit | None = None) -> None:
        """In a forked child: go on with `emit`, or without it let everything through unrecorded.

        A redirected child writes into the parent's capture like any other child process, whatever is said here.
        """
        self._begin_anew()  # unfinished lines are the parent's, and its locks may be held for ever
        for tap in self._taps:
            tap.pending.clear()
        if self._redirect is not None:
            self._redirect.forget()
            self._redirect = None
            self.is_active = False
        elif emit is None:
            for tap in reversed(self._taps):
                tap.remove()
            self._taps.clear()
            self.is_active = False
        else:
            self._emit = emit

    def take(self, name: str, text: str) -> None:
        """Record text that went to the stream `name`."""
        me = get_ident()
        if self._computing == me:
            # A signal handler or finalizer prints in the middle of our own work: its turn comes after it.
            self._late.append((name, text))
            return
        if self._emitting == me or self._has_failed:
            return
        try:
            with self._lock:
                self._computing = me
                try:
                    self._lines[name].write(text)
                    while self._late:
                        late_name, late_text = self._late.popleft()
                        self._lines[late_name].write(late_text)
                finally:
                    self._computing = 0
            if self._due:
                self._pass_on()
        except Exception as error:  # noqa: BLE001 - the SDK's outermost guard: this is inside the user's print()
            self._has_failed = True
            terminal.warn_once("console:fault", f"printed text is no longer recorded: {error!r}")

    def _pass_on(self) -> None:
        # Whoever finds the turn taken leaves its text to the one who has it, who looks again after giving it back.
        while self._due and self._turn.acquire(False):
            self._emitting = get_ident()
            try:
                while self._due:
                    name, text = self._due.popleft()
                    self._emit(name, text if text.isascii() else _encodable(text))
            finally:
                self._emitting = 0
                self._turn.release()


class _Tap:
    """The wrapper around one stream's `write`."""

    def __init__(self, capture: ConsoleCapture, name: str, stream: TextIO) -> None:
        self.is_active = True
        self.stream = stream
        self.name = name
        self.previous: Callable[[str], int] = stream.write
        self.had_own = "write" in getattr(stream, "__dict__", {})
        self.proxy: _Proxy | None = None
        self.pending: deque[str] = deque()
        self._heard = False
        previous, take, pending, interval_s = self.previous, capture.take, self.pending, capture.interval_s
        pending_since = 0.0

        def write(text: str) -> int:
            nonlocal pending_since
            count = previous(text)
            if not text:
                self._heard = True
            elif self.is_active:
                # print() writes every argument, separator and newline by itself: parts of a line only wait here.
                if text.isprintable():
                    if not pending:
                        pending_since = monotonic()
                        pending.append(text)
                        return count
                    if monotonic() - pending_since < interval_s and len(pending) < _MAX_PENDING:
                        pending.append(text)
                        return count
                take(name, self.take_pending() + text if pending else text)
            return count

        write.strobe_tap = self  # type: ignore[attr-defined]  # how a later capture recognizes one that was left
        self.write = write
        try:
            # On the object, not in its place: logging handlers and libraries that hold it are recorded too.
            stream.write = write  # type: ignore[method-assign]
        except (AttributeError, TypeError):
            self.proxy = _Proxy(stream, write)
            setattr(sys, name, self.proxy)

    def is_heard(self) -> bool:
        """Return whether what is written to the stream still comes by here, perhaps through somebody's wrapper."""
        if self.proxy is not None:
            return True  # it stands in sys.stdout itself, which nobody puts back
        self._heard = False
        try:
            self.stream.write("")
        except (OSError, ValueError):  # closed; there is nothing to hear
            return True
        return self._heard

    def take_pending(self) -> str:
        """Return the parts of a line that wait. One by one, because other threads may add or take some meanwhile."""
        parts = []
        try:
            while self.pending:
                parts.append(self.pending.popleft())
        except IndexError:  # another thread took the last one
            pass
        return "".join(parts)

    def remove(self) -> None:
        """Take the wrapper away if nobody has put something over it; else it only lets through from now on."""
        self.is_active = False
        if self.proxy is not None:
            if getattr(sys, self.name) is self.proxy:
                setattr(sys, self.name, self.stream)
            return
        if getattr(self.stream, "write", None) is not self.write:
            return
        previous, had_own = self.previous, self.had_own
        while (under := getattr(previous, "strobe_tap", None)) is not None and not under.is_active:
            previous, had_own = under.previous, under.had_own
        if had_own:
            self.stream.write = previous  # type: ignore[method-assign]
        else:
            del self.stream.write


class _Proxy:
    """Stands in sys.stdout for an object that takes no attributes; everything but `write` is the object's own."""

    def __init__(self, stream: TextIO, write: Callable[[str], int]) -> None:
        self._stream = stream
        self.write = write

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Any:
        return iter(self._stream)


def _nothing() -> None:
    pass


def _encodable(text: str) -> str:
    """File names may hold lone surrogates, which no UTF-8 can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
