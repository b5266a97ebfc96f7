"""How one call is timed.

CPU time of the calling thread is the robust figure on a busy machine: other processes take wall time from us, not
that. Blocks of "build the row" and "build the row and log it" alternate, and the median of their differences is
reported, so that neither building nor a disturbed block counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Build = Callable[[int], dict[str, Any]]
Log = Callable[[dict[str, Any]], Any]

_PAUSE_S = 0.001


def cpu_per_call(log: Log, build: Build, *, calls: int, block: int) -> float:
    """Return the thread CPU seconds of one log() call, building excluded, over `calls` calls."""
    clock = time.thread_time
    differences = []
    for first in range(0, calls, block):
        numbers = range(first, first + block)
        start = clock()
        for number in numbers:
            build(number)
        built = clock()
        for number in numbers:
            log(build(number))
        logged = clock()
        differences.append(((logged - built) - (built - start)) / block)
    return middle(differences)


def wall_of_calls(log: Log, build: Build, *, calls: int, limit_s: float = 60.0, burst: int = 0) -> list[float]:
    """Return the wall seconds of each log() call, building excluded; fewer calls if `limit_s` passes.

    With `burst`, the thread sleeps for a moment after that many calls.
    """
    clock = time.perf_counter
    walls = []
    end = clock() + limit_s
    for number in range(calls):
        row = build(number)
        start = clock()
        log(row)
        stop = clock()
        walls.append(stop - start)
        if stop > end:
            break
        if burst and number % burst == burst - 1:
            time.sleep(_PAUSE_S)
    return walls


def middle(values: list[float]) -> float:
    """Return the median (the upper one of two)."""
    return sorted(values)[len(values) // 2]


def at_fraction(values: list[float], fraction: float) -> float:
    """Return the value below which `fraction` of them lie."""
    return sorted(values)[min(len(values) - 1, int(len(values) * fraction))]
