"""The machine's figures: CPU, memory, swap, load, disks, network. Reading counters is one thing, making rates of two
readings another; the second is a pure function.

Names follow wandb's system metrics where it has one (docs/system-metrics.md lists them all). Needs psutil, which only
the agent loads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec

_MB = 1024.0 * 1024.0
_GB = 1024.0 * _MB


class Counters(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of everything that only counts up. Times in seconds, amounts in bytes."""

    at: float
    num_cpus: int = 1
    busy_s: float = 0.0
    idle_s: float = 0.0
    core_busy_s: list[float] = []
    core_idle_s: list[float] = []
    disk_read: int | None = None
    disk_written: int | None = None
    net_sent: int | None = None
    net_received: int | None = None


def read_counters(now: float, psutil: Any) -> Counters:
    """Read the counters as of `now` (monotonic seconds)."""
    cores = [_busy_and_idle(times) for times in psutil.cpu_times(percpu=True)]
    disk = _attempt(psutil.disk_io_counters)
    net = _attempt(psutil.net_io_counters)
    return Counters(
        at=now,
        num_cpus=len(cores) or 1,
        busy_s=sum(busy for busy, _ in cores),
        idle_s=sum(idle for _, idle in cores),
        core_busy_s=[busy for busy, _ in cores],
        core_idle_s=[idle for _, idle in cores],
        disk_read=disk.read_bytes if disk else None,
        disk_written=disk.write_bytes if disk else None,
        net_sent=net.bytes_sent if net else None,
        net_received=net.bytes_recv if net else None,
    )


def rates(first: Counters, before: Counters, after: Counters) -> dict[str, float]:
    """Return what happened between `before` and `after`, and in all since `first`."""
    row: dict[str, float] = {}
    if (share := _share(after.busy_s - before.busy_s, after.idle_s - before.idle_s)) is not None:
        row["system.cpu_percent"] = share
    busiest = [
        share
        for busy, was_busy, idle, was_idle in zip(
            after.core_busy_s, before.core_busy_s, after.core_idle_s, before.core_idle_s, strict=False
        )
        if (share := _share(busy - was_busy, idle - was_idle)) is not None
    ]
    if busiest:
        row["system.cpu.busiest_core"] = max(busiest)
    seconds = after.at - before.at
    for name, field, unit in (
        ("disk.in", "disk_read", _MB),
        ("disk.out", "disk_written", _MB),
        ("network.sent", "net_sent", 1.0),
        ("network.recv", "net_received", 1.0),
    ):
        start, old, new = getattr(first, field), getattr(before, field), getattr(after, field)
        if start is not None and old is not None and new is not None and seconds > 0:
            row[f"system.{name}"] = max(0, new - start) / unit
            row[f"system.{name}_MBps"] = max(0, new - old) / _MB / seconds
    return row


def read_gauges(psutil: Any, disks: Iterable[str]) -> dict[str, float]:
    """Read what needs no second reading: memory, swap, load, and how full `disks` are."""
    memory = psutil.virtual_memory()
    row = {
        "system.memory_percent": float(memory.percent),
        "system.memory.usedMB": (memory.total - memory.available) / _MB,
        "system.proc.memory.availableMB": memory.available / _MB,
    }
    swap = _attempt(psutil.swap_memory)
    if swap and swap.total:
        row["system.swap_percent"] = float(swap.percent)
    with suppress(OSError, AttributeError):
        row["system.load.1m"], row["system.load.5m"], _ = os.getloadavg()
    for path in disks:
        with suppress(OSError):
            usage = psutil.disk_usage(path)
            row[f"system.disk.{path}.usagePercent"] = float(usage.percent)
            row[f"system.disk.{path}.usageGB"] = usage.used / _GB
            row[f"system.disk.{path}.freeGB"] = usage.free / _GB
    return row


def mount_point(path: str) -> str:
    """Return where the file system that holds `path` is mounted."""
    path = os.path.realpath(path)
    while not os.path.ismount(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return path


def _busy_and_idle(times: Any) -> tuple[float, float]:
    # guest time is part of user time already; waiting for a disk is idle.
    idle = times.idle + getattr(times, "iowait", 0.0)
    busy = sum(
        getattr(times, name, 0.0) for name in ("user", "nice", "system", "irq", "softirq", "steal", "interrupt", "dpc")
    )
    return busy, idle


def _share(busy: float, idle: float) -> float | None:
    total = busy + idle
    return min(100.0, max(0.0, 100.0 * busy / total)) if total > 0 else None


def _attempt(read: Any) -> Any:
    try:
        return read()
    except (OSError, RuntimeError, NotImplementedError):  # containers and odd kernels hide some of /proc
        return None
