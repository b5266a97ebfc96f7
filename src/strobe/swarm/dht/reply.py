"""A result that is on its way: wait for it with `result()` in ordinary code, or `await` it in a coroutine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, InvalidStateError
from typing import Any, Generic, TypeVar

_Result = TypeVar("_Result")


class Reply(Future[_Result]):
    """A concurrent future that can be awaited too. Cancelling it ends the work."""

    def __init__(self) -> None:
        super().__init__()
        self._when_cancelled: Callable[[], object] | None = None

    def __await__(self) -> Generator[Any, None, _Result]:
        return asyncio.wrap_future(self).__await__()

    def resolve(self, result: _Result) -> None:
        """Set the result, unless nobody wants it any more."""
        try:
            self.set_result(result)
        except InvalidStateError:
            assert self.done()

    def fail(self, error: BaseException) -> None:
        """Set the exception, unless nobody wants it any more."""
        try:
            self.set_exception(error)
        except InvalidStateError:
            assert self.done()

    def when_cancelled(self, action: Callable[[], object]) -> None:
        """Call `action`, which may be called twice, if this is or gets cancelled, in the thread that finds it so.

        In the place of an action before. (A done callback would do, and cost every result two turns of a lock.)
        """
        self._when_cancelled = action  # first: whoever cancels after the question finds it
        if self.cancelled():
            action()

    def cancel(self) -> bool:
        if not super().cancel():
            return False
        if self._when_cancelled is not None:
            self._when_cancelled()
        return True


class Wait(Generic[_Result]):
    """A reply for the one thread that does nothing but wait for it: a lock in the place of a future and its condition.

    Those are code that a thread which has slept finds in no cache: about a sixth of what a small call costs its caller.
    """

    __slots__ = ("_error", "_is_there", "_result")

    _result: _Result

    def __init__(self) -> None:
        self._error: BaseException | None = None
        self._is_there = threading.Lock()
        self._is_there.acquire()

    def result(self) -> _Result:
        """Wait for the result. Once."""
        self._is_there.acquire()
        if self._error is None:
            return self._result
        try:
            raise self._error
        finally:
            del self  # the error's traceback has this frame: each would keep the other alive

    def resolve(self, result: _Result) -> None:
        self._result = result
        self._is_there.release()

    def fail(self, error: BaseException) -> None:
        self._error = error
        self._is_there.release()

    def cancelled(self) -> bool:
        return False

    def when_cancelled(self, action: Callable[[], object]) -> None:
        """Nobody can."""
