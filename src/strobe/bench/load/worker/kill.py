"""Kills a program that logs, and counts the acknowledged steps that nobody can read afterwards.

The victim writes the number of the step into shared memory after log() has returned; that memory survives its
death. It is forked before the tracker is imported, so that it has helpers of its own, in its own process group.
"""

from __future__ import annotations

import mmap
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from .protocol import Tracker

# The shared page: two numbers of 8 bytes, then the reason why the victim ended on its own.
_READY, _ACKNOWLEDGED = 0, 1
_REASON, _REASON_BYTES = 16, 400
_START_LIMIT_S = 60.0


@dataclass(frozen=True)
class Attempt:
    """One kill to make: how the victim logs, what is killed, and how long after init()."""

    pause_s: float
    is_group: bool
    delay_s: float


def plan(kills: int) -> list[Attempt]:
    """Spread kills over tight and slow loops, process and group, at random moments: the same for every tracker."""
    rng = random.Random(0)
    return [
        Attempt(
            pause_s=0.005 if number % 2 else 0.0,
            is_group=number % 4 >= 2,
            delay_s=rng.uniform(0.0, 0.3 if number % 2 else 0.1),
        )
        for number in range(kills)
    ]


def kill_one(make_tracker: Callable[[], Tracker], attempt: Attempt) -> int:
    """Start a victim, kill it, and return how many steps log() had returned from."""
    shared = mmap.mmap(-1, mmap.PAGESIZE)
    cells = memoryview(shared).cast("q")
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            _log_forever(make_tracker(), attempt.pause_s, cells)
        finally:  # reached only if the tracker raised
            reason = repr(sys.exc_info()[1]).encode()[:_REASON_BYTES]
            shared[_REASON : _REASON + len(reason)] = reason
            os._exit(1)
    _wait_until_ready(shared, cells, pid)
    time.sleep(attempt.delay_s)
    if attempt.is_group:
        os.killpg(pid, signal.SIGKILL)
    else:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return int(cells[_ACKNOWLEDGED])


def _wait_until_ready(shared: mmap.mmap, cells: memoryview, pid: int) -> None:
    deadline = time.monotonic() + _START_LIMIT_S
    while not cells[_READY]:
        if os.waitpid(pid, os.WNOHANG)[0]:
            reason = shared[_REASON : _REASON + _REASON_BYTES].rstrip(b"\0").decode(errors="replace")
            raise RuntimeError(f"the program to be killed ended on its own: {reason}")
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            raise RuntimeError(f"the program to be killed did not start within {_START_LIMIT_S:.0f} s")
        time.sleep(0.001)


def _log_forever(tracker: Tracker, pause_s: float, cells: memoryview) -> None:
    tracker.setup()
    run = tracker.start()
    cells[_READY] = 1
    step = 0
    while True:
        run.log({"i": step, "loss": 1.0 / (step + 1)})
        step += 1
        cells[_ACKNOWLEDGED] = step
        if pause_s:
            time.sleep(pause_s)
