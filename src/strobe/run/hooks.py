"""Ends that nobody announces: uncaught exceptions, sys.exit, the interpreter's shutdown.

Hooks are installed when a run starts, call what was there before, and are taken out again when no run is left (if
nobody has hooked in on top). They never change what the program prints or the code it exits with.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any


class ExitWatch:
    """Remembers how the program is ending, and calls `finish` at interpreter shutdown."""

    def __init__(self, finish: Callable[[], None]) -> None:
        self._finish = finish
        self._installed = False
        self._previous_hook: Any = None
        self._previous_exit: Any = None
        self.exit_code: int | None = None
        self.error: str | None = None
        self.was_interrupted = False

    def install(self) -> None:
        if self._installed:
            return
        self._installed = True
        self._previous_hook, sys.excepthook = sys.excepthook, self._on_exception
        self._previous_exit, sys.exit = sys.exit, self._on_exit
        atexit.register(self._on_shutdown)

    def remove(self) -> None:
        """Take the hooks out where nobody has chained on to them."""
        if not self._installed:
            return
        if sys.excepthook == self._on_exception:
            sys.excepthook = self._previous_hook
        if sys.exit == self._on_exit:
            sys.exit = self._previous_exit
        atexit.unregister(self._on_shutdown)
        self._installed = False

    def _on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self.note_exception(kind, error, trace)
        self._previous_hook(kind, error, trace)

    def note_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Remember an exception as the reason for the end."""
        self.exit_code, self.error, self.was_interrupted = describe_exception(kind, error, trace)

    def _on_exit(self, code: Any = None) -> None:
        self.exit_code = code if isinstance(code, int) else int(code is not None)
        self._previous_exit(code)

    def _on_shutdown(self) -> None:
        self._finish()
        if self.was_interrupted:
            _keep_exit_by_interrupt()


def _keep_exit_by_interrupt() -> None:
    """Let the process still die of SIGINT, as shells expect after Ctrl-C.

    CPython remembers an uncaught KeyboardInterrupt in a flag that every evaluation of source text resets, and making
    a namedtuple while we report the end is one. Letting another one escape from source text sets the flag again.
    """
    try:
        exec("raise KeyboardInterrupt")  # the text is a constant
    except KeyboardInterrupt:
        pass


def describe_exception(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> tuple[int, str | None, bool]:
    """Return (exit code, traceback text, whether the user interrupted)."""
    if issubclass(kind, SystemExit):
        code = error.code if isinstance(error, SystemExit) else 1
        return (code if isinstance(code, int) else int(code is not None)), None, False
    import traceback

    text = "".join(traceback.format_exception(kind, error, trace))
    if issubclass(kind, KeyboardInterrupt):
        return 130, text, True
    return 1, text, False
