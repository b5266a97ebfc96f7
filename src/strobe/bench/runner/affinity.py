"""Which CPUs a process that measures runs on: rows, and the probe of the machine's peaks that they are held against.

Which of them a process gets matters beside how many: two neighbours may be the two threads of one core.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence


def allowed_cpus() -> list[int]:
    """Return the CPUs that this process may run on; none where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def share(cpus: Sequence[int], rank: int, threads: int) -> Sequence[int]:
    """Return the CPUs of a rank: neighbours, each its own while there are enough."""
    start = rank * threads % max(1, len(cpus))
    return cpus[start : start + threads]


def pin(cpus: Collection[int]) -> None:
    """Hold this process to some CPUs, before it starts threads; where it cannot be, or for none, it stays as it is."""
    if cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)
