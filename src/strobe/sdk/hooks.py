"""Ends that nobody announces: uncaught exceptions, sys.exit, the interpreter's shutdown.

Hooks are installed when a run starts, call what was there before, and are taken out again when no run is left. They
never change what the program prints or the code it exits with.
"""

from __future__ import annotations

import atexit
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any


class ExitWatch:
    """Remembers how the program is ending, and calls `finish` at interpreter shutdown."""

    def __init__(self, finish: Callable[[], None]) -> None:
        self._finish = finish
        self.exit_code: int | None = None
        self.error: str | None = None
        self.was_interrupted = False

    def install(self) -> None:
        global _hooks
        if _hooks is None:
            _hooks = _Hooks()
        if self not in _hooks.watches:
            _hooks.watches.append(self)
            atexit.register(self._on_shutdown)

    def remove(self) -> None:
        """Stop watching; the last one takes the hooks out."""
        global _hooks
        if _hooks is None or self not in _hooks.watches:
            return
        atexit.unregister(self._on_shutdown)
        _hooks.watches.remove(self)
        if not _hooks.watches:
            _hooks.remove()
            _hooks = None

    def note_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Remember an exception as the reason for the end."""
        self.exit_code, self.error, self.was_interrupted = describe_exception(kind, error, trace)

    def _on_shutdown(self) -> None:
        self._finish()
        if self.was_interrupted:
            _keep_exit_by_interrupt()


class _Hooks:
    """What is put into `sys` while runs are active, once for all of them.

    Where somebody hooked in on top, ours must stay in their chain; it does nothing then but pass on. The next run gets
    new ones, never these again: they would be called by their own successor.
    """

    def __init__(self) -> None:
        self.watches: list[ExitWatch] = []
        self._previous_hook, sys.excepthook = sys.excepthook, self._on_exception
        self._previous_exit: Any = sys.exit
        sys.exit = self._on_exit  # type: ignore[assignment]  # returns as little as sys.exit does

    def remove(self) -> None:
        if sys.excepthook == self._on_exception:
            sys.excepthook = self._previous_hook
        if sys.exit == self._on_exit:
            sys.exit = self._previous_exit

    def _on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        for watch in self.watches:
            watch.note_exception(kind, error, trace)
        self._previous_hook(kind, error, trace)

    def _on_exit(self, code: Any = None) -> None:
        # In another thread this ends the thread, not the program.
        if threading.current_thread() is threading.main_thread():
            for watch in self.watches:
                watch.exit_code = _exit_code(code)
        self._previous_exit(code)


_hooks: _Hooks | None = None


def _exit_code(code: Any) -> int:
    return int(code) if isinstance(code, int) else int(code is not None)


def _keep_exit_by_interrupt() -> None:
    """Let the process still die of SIGINT, as shells expect after Ctrl-C.

    CPython remembers an uncaught KeyboardInterrupt in a flag that every evaluation of source text resets, and making
    a namedtuple while we report the end is one. Letting another one escape from source text sets the flag again.
    """
    with suppress(KeyboardInterrupt):
        exec("raise KeyboardInterrupt")  # the text is a constant


def describe_exception(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> tuple[int, str | None, bool]:
    """Return (exit code, traceback text, whether the user interrupted)."""
    if issubclass(kind, SystemExit):
        code = error.code if isinstance(error, SystemExit) else 1
        return _exit_code(code), None, False
    import traceback

    text = "".join(traceback.format_exception(kind, error, trace))
    if issubclass(kind, KeyboardInterrupt):
        return 130, text, True
    return 1, text, False
