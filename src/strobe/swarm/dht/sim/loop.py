"""An event loop whose clock jumps to the next timer instead of waiting for it.

Everything is deterministic: what is ready runs in order, and when nothing is ready, time moves. An hour of a quiet
swarm takes as long as its messages take to compute.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

_Result = TypeVar("_Result")
#: where simulated time begins: some moment of 2023, so that it looks like the time it stands for
START_S: Final = 1_700_000_000.0


class _JumpingSelector(selectors.SelectSelector):
    """Reports what is ready at once, and tells its loop how long it would have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.waited_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("the simulation waits for something that no timer and no message will bring")
        if timeout > 0:
            self.waited_s += timeout
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """Run a simulation with `run`; `time()` is simulated seconds from 0, `clock()` the time of day that peers see."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        # From 0: beside a large number, short waits would get lost in rounding, and time would stand still.
        return self._jumping.waited_s


def clock() -> float:
    """Return the simulated time of day."""
    return START_S + asyncio.get_running_loop().time()


def run(main: Coroutine[Any, Any, _Result]) -> _Result:
    """Return what `main` returns, having run it in simulated time."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(main)
    finally:
        for task in (left := asyncio.all_tasks(loop)):
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.close()
