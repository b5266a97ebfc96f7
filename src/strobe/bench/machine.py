"""Facts about this machine that a benchmark record carries, so that times of two machines are not mixed up.

Reads /proc and `platform`; a fact that cannot be had is left out rather than guessed.
"""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone
from pathlib import Path

from strobe.bench.records import Environment


def describe(directory: Path | None = None) -> Environment:
    """Describe the machine, and the file system of `directory` if one is given."""
    return Environment(
        host=platform.node(),
        os=f"{platform.system()} {platform.release()}",
        cpu=_cpu_model(),
        cpu_count=_usable_cpus(),
        memory_bytes=_memory_bytes(),
        python=platform.python_version(),
        file_system=_file_system(directory) if directory else "",
        load_average=_load_average(),
        started_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )


def _usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 0


def _load_average() -> float | None:
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor()


def _file_system(directory: Path) -> str:
    """Return the type of the file system that holds `directory`: the longest mount point above it."""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    place = directory.resolve()
    best, found = -1, ""
    for line in mounts:
        _, point, kind, *_ = line.split(" ")
        mounted = Path(point.replace("\\040", " "))
        if len(mounted.parts) > best and (mounted == place or mounted in place.parents):
            best, found = len(mounted.parts), kind
    return found
