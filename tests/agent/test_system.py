"""The machine's figures: rates of two readings, and that psutil really has what is read."""

from __future__ import annotations

import os

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.agent.system import Counters, mount_point, rates, read_counters, read_gauges

_MB = 1 << 20


def test_rates_between_and_since() -> None:
    first = Counters(at=0.0, disk_read=10 * _MB, disk_written=0, net_sent=100, net_received=0)
    before = Counters(at=10.0, busy_s=5, idle_s=15, disk_read=20 * _MB, disk_written=0, net_sent=100, net_received=0)
    after = Counters(
        at=12.0, busy_s=8, idle_s=16, disk_read=24 * _MB, disk_written=_MB, net_sent=100 + 4 * _MB, net_received=7
    )
    row = rates(first, before, after)
    assert row["system.cpu_percent"] == 75.0
    assert row["system.disk.in"] == 14.0
    assert row["system.disk.in_MBps"] == 2.0
    assert row["system.disk.out"] == 1.0
    assert row["system.network.sent"] == 4 * _MB
    assert row["system.network.sent_MBps"] == 2.0
    assert row["system.network.recv"] == 7


def test_the_busiest_core_stands_out() -> None:
    before = Counters(at=0.0, core_busy_s=[0, 0], core_idle_s=[0, 0])
    after = Counters(at=1.0, core_busy_s=[0.9, 0.1], core_idle_s=[0.1, 0.9])
    assert rates(before, before, after)["system.cpu.busiest_core"] == pytest.approx(90.0)


def test_what_the_machine_hides_is_left_out() -> None:
    before, after = Counters(at=0.0), Counters(at=1.0)
    assert rates(before, before, after) == {}


_amounts = st.integers(0, 2**50)
_counters = st.builds(
    Counters,
    at=st.floats(0, 1e6),
    busy_s=st.floats(0, 1e9),
    idle_s=st.floats(0, 1e9),
    core_busy_s=st.lists(st.floats(0, 1e9), max_size=3),
    core_idle_s=st.lists(st.floats(0, 1e9), max_size=3),
    disk_read=_amounts,
    disk_written=st.none() | _amounts,
    net_sent=_amounts,
    net_received=_amounts,
)


@given(_counters, _counters, _counters)
def test_counters_that_jump_give_no_nonsense(first: Counters, before: Counters, after: Counters) -> None:
    """A hot-plugged disk, a wrapped counter or a core gone offline make counters go backwards."""
    row = rates(first, before, after)
    assert all(value >= 0 for value in row.values())
    assert row.get("system.cpu_percent", 0.0) <= 100.0


def test_reading_this_machine() -> None:
    counters = read_counters(1.0, psutil)
    assert counters.num_cpus == os.cpu_count()
    assert counters.idle_s > 0
    gauges = read_gauges(psutil, ["/", "/no/such/disk"])
    assert 0 < gauges["system.memory_percent"] <= 100
    assert 0 < gauges["system.disk./.usagePercent"] <= 100
    assert not any("no/such" in key for key in gauges)


def test_mount_point() -> None:
    assert mount_point("/") == "/"
    assert mount_point("/proc/self/no/such/thing") == "/proc"
