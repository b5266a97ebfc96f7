"""A run's processes: CPU by difference, memory by sum, pids that come, go and are reused."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import psutil
import pytest

from strobe.agent.tree import Usage, describe_usage, read_usage


def test_cpu_time_counts_from_birth_for_the_newborn_and_never_backwards() -> None:
    before = Usage(at=0.0, cpu_s={(1, 0.0): 10.0, (2, 0.0): 50.0, (3, 0.0): 9.0})
    # Process 1 went on, 2 is gone, pid 3 is now another process, 4 is new.
    after = Usage(at=10.0, cpu_s={(1, 0.0): 14.0, (3, 5.0): 2.0, (4, 6.0): 4.0}, rss=1 << 20, pids=frozenset({1, 3, 4}))
    row = describe_usage(before, after, num_cpus=4, memory_total=1 << 22)
    assert row["system.proc.cpu.percent"] == 100.0
    assert row["system.cpu"] == 25.0
    assert row["system.proc.memory.rssMB"] == 1.0
    assert row["system.proc.memory.percent"] == 25.0
    assert row["system.proc.count"] == 3


def test_reading_the_gone_gives_nothing() -> None:
    usage = read_usage([2**22 + 1], 0.0, psutil)
    assert usage.pids == frozenset()


@pytest.mark.slow
def test_children_count() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    try:
        time.sleep(0.1)
        usage = read_usage([os.getpid()], 0.0, psutil)
        assert {os.getpid(), child.pid} <= usage.pids
        assert usage.rss > 1 << 20
        assert usage.num_threads >= 2
        assert usage.num_descriptors >= 6
    finally:
        child.communicate()
