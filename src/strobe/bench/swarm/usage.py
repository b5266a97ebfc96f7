"""What a program and all processes it has started use, and have used."""

from __future__ import annotations

from dataclasses import dataclass

import psutil


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds since each process began, ended ones included; memory that is in use now, shared parts once."""

    cpu_s: float = 0.0
    memory_bytes: int = 0


def of_tree(pid: int) -> Usage:
    """Return what a process and its descendants use."""
    try:
        root = psutil.Process(pid)
        tree = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return Usage()
    cpu_s, memory_bytes = 0.0, 0
    for process in tree:
        try:
            # Those of children are counted when a child has ended and was waited for, so nothing counts twice.
            times = process.cpu_times()
            cpu_s += (
                times.user + times.system + getattr(times, "children_user", 0) + getattr(times, "children_system", 0)
            )
            memory_bytes += _memory_bytes(process)
        except psutil.NoSuchProcess:
            continue
    return Usage(cpu_s, memory_bytes)


def _memory_bytes(process: psutil.Process) -> int:
    """Return the process's share of what is in RAM (pages that n processes share count for one n-th), where known."""
    try:
        full = process.memory_full_info()
    except psutil.AccessDenied:
        return int(process.memory_info().rss)
    return int(getattr(full, "pss", 0) or full.rss)
