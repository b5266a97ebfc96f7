"""The figures of a run's processes: each writer's process with all its descendants, added up.

Resident memory counts shared pages once per process, as everywhere; docs/system-metrics.md says so. Needs psutil.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

_MB = 1024.0 * 1024.0


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What a set of process trees uses at one moment."""

    at: float
    #: CPU seconds so far by (pid, start time), so that a reused pid is another process
    cpu_s: dict[tuple[int, float], float]
    rss: int = 0
    num_threads: int = 0
    num_descriptors: int = 0
    pids: frozenset[int] = frozenset()


def read_usage(roots: Iterable[int], now: float, psutil: Any) -> Usage:
    """Read the trees below `roots`; processes that go away meanwhile are left out."""
    cpu_s: dict[tuple[int, float], float] = {}
    rss = num_threads = num_descriptors = 0
    pids = set()
    for process in _processes(roots, psutil):
        try:
            with process.oneshot():
                times = process.cpu_times()
                cpu_s[process.pid, process.create_time()] = times.user + times.system
                rss += process.memory_info().rss
                num_threads += process.num_threads()
                num_descriptors += _num_descriptors(process, psutil)
        except psutil.Error:
            continue
        pids.add(process.pid)
    return Usage(
        at=now,
        cpu_s=cpu_s,
        rss=rss,
        num_threads=num_threads,
        num_descriptors=num_descriptors,
        pids=frozenset(pids),
    )


def describe_usage(before: Usage, after: Usage, *, num_cpus: int, memory_total: int) -> dict[str, float]:
    """Return the row for what the trees use; CPU time of a process new since `before` counts from its start."""
    row = {
        "system.proc.memory.rssMB": after.rss / _MB,
        "system.proc.memory.percent": 100.0 * after.rss / memory_total if memory_total else 0.0,
        "system.proc.cpu.threads": float(after.num_threads),
        "system.proc.count": float(len(after.pids)),
        "system.proc.fds": float(after.num_descriptors),
    }
    seconds = after.at - before.at
    if seconds > 0:
        used = sum(max(0.0, total - before.cpu_s.get(key, 0.0)) for key, total in after.cpu_s.items())
        row["system.proc.cpu.percent"] = 100.0 * used / seconds
        row["system.cpu"] = 100.0 * used / seconds / num_cpus
    return row


def _processes(roots: Iterable[int], psutil: Any) -> list[Any]:
    found: dict[int, Any] = {}
    for pid in roots:
        try:
            root = psutil.Process(pid)
            for process in (root, *root.children(recursive=True)):
                found.setdefault(process.pid, process)
        except psutil.Error:
            continue
    return list(found.values())


def _num_descriptors(process: Any, psutil: Any) -> int:
    try:
        return int(process.num_fds() if hasattr(process, "num_fds") else process.num_handles())
    except psutil.AccessDenied:
        return 0
