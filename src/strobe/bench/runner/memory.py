"""Memory of a worker, as the kernel counts it: its peak, and what it and its children have while they run."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

from strobe.agent import cgroup

_LOOK_S = 1.0


def peak_bytes() -> int:
    """Return the most memory that this process has had in RAM."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def available_bytes() -> int:
    """Return what can be had without swapping, and without being killed for it in a container or batch job."""
    machine = int(psutil.virtual_memory().available)
    group = cgroup.free_bytes(os.getpid())
    return machine if group is None else min(machine, group)


class TreeMemory:
    """Memory of some processes and of all that they have started, as cheaply as it must be beside a measurement.

    What each has in RAM takes a small file to read, many times a second; that counts pages twice which processes share.
    Only where the sum is too much are they counted properly, which takes long: once a second, as children are sought,
    and when there is more than the pages that were shared last time can explain.
    """

    def __init__(self, pids: Iterable[int], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._roots = tuple(pids)
        self._pids = list(self._roots)
        self._clock = clock
        self._next_look = self._next_count = clock()
        self._shared = 0

    def above(self, limit: int) -> int | None:
        """Return how much they have if that is more than the limit, as far as can be told at this moment."""
        now = self._clock()
        if now >= self._next_look:
            self._pids = [pid for root in self._roots for pid in (root, *descendants(root))]
            self._next_look = now + _LOOK_S
        resident = sum(map(_resident_bytes, self._pids))
        if resident <= limit or (now < self._next_count and resident - self._shared <= limit):
            return None
        self._next_count = now + _LOOK_S
        used = sum(map(_proportional_bytes, self._pids))
        self._shared = max(0, resident - used)
        return used if used > limit else None


def descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and those that they have; none if it is gone."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    if not _has_children_files():
        try:
            return [child.pid for child in psutil.Process(pid).children()]
        except psutil.Error:
            return []
    # Of each thread: unlike a look at all processes, this does not take longer on a machine that has many.
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):  # a thread that has ended meanwhile
                found += map(int, (task / "children").read_text().split())
    return found


@cache
def _has_children_files() -> bool:
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _resident_bytes(pid: int) -> int:
    """Return what a process has in RAM, shared or not; one that is gone has nothing."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        pass
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def _proportional_bytes(pid: int) -> int:
    """Return the same with a page of several processes shared out among them, where the kernel can tell."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return _resident_bytes(pid)
