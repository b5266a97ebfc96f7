"""The limits of a run's control group: the memory that a container or batch job is killed for exceeding, its CPU time.

`system.memory_percent` is the machine's; in a container with 8 of 512 GB it says nothing. Reads version 2 of the
interface and version 1's controllers; where there is no limit, or no control groups, there is no figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_MB = 1024.0 * 1024.0
#: version 1 says "no limit" with the largest page-aligned number
_NO_LIMIT = 1 << 60


_PROC, _MOUNT = Path("/proc"), Path("/sys/fs/cgroup")


def read_memory(pid: int, *, proc: Path = _PROC, mount: Path = _MOUNT) -> dict[str, float]:
    """Return use and limit of the tightest group above `pid`; page cache that can be given up is not used memory."""
    limit, used = min(_limits(pid, proc, mount), key=lambda group: group[0], default=(0, 0))
    if not limit:
        return {}
    return {
        "system.cgroup.memory_percent": 100.0 * used / limit,
        "system.cgroup.memory.usedMB": used / _MB,
        "system.cgroup.memory.limitMB": limit / _MB,
    }


def free_bytes(pid: int, *, proc: Path = _PROC, mount: Path = _MOUNT) -> int | None:
    """Return how much more the groups of `pid` may take before one of them is at its limit; None without a limit."""
    return min((max(0, limit - used) for limit, used in _limits(pid, proc, mount)), default=None)


def cpu_quota(pid: int, *, proc: Path = _PROC, mount: Path = _MOUNT) -> float | None:
    """Return the time of how many CPUs the tightest group above `pid` may use; None without a limit."""
    found = []
    for directory in _groups(pid, "cpu", proc, mount):
        words = _text(directory / "cpu.max").split() or [
            _text(directory / name).strip() for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")
        ]
        # Without a limit the first of them is "max", in version 1 it is -1.
        if all(word.isdecimal() for word in words):
            quota, period = map(int, words)
            found.append(quota / period)
    return min(found, default=None)


def throttled_s(pid: int, *, proc: Path = _PROC, mount: Path = _MOUNT) -> float:
    """Return for how long the CPUs of the groups above `pid` were held back so far, since the quota was used up."""
    stats = [_fields(directory / "cpu.stat") for directory in _groups(pid, "cpu", proc, mount)]
    # Microseconds in version 2, nanoseconds in version 1.
    return sum(stat.get("throttled_usec", 0) / 1e6 + stat.get("throttled_time", 0) / 1e9 for stat in stats)


def _limits(pid: int, proc: Path, mount: Path) -> Iterator[tuple[int, int]]:
    """Yield limit and use of each group above a process that has a limit."""
    for directory in _groups(pid, "memory", proc, mount):
        limit = _first_number(directory, "memory.max", "memory.limit_in_bytes")
        used = _first_number(directory, "memory.current", "memory.usage_in_bytes")
        if limit is not None and used is not None and 0 < limit < _NO_LIMIT:
            yield limit, max(0, used - _inactive(directory / "memory.stat"))


def _groups(pid: int, controller: str, proc: Path, mount: Path) -> Iterator[Path]:
    """Yield the directories of the process's group and of those above it, each once."""
    for line in _text(proc / str(pid) / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root = mount
        elif controller in controllers.split(","):
            root = mount / controller
        else:
            continue
        # Seen from inside a container the path may begin with /.. or not be mounted; the root is its own group then.
        group = PurePosixPath(path.lstrip("/"))
        above = () if ".." in group.parts else (group, *group.parents)
        yield from dict.fromkeys([*(root / part for part in above), root])


def _first_number(directory: Path, *names: str) -> int | None:
    texts = (_text(directory / name).strip() for name in names)
    return next((int(text) for text in texts if text.isdecimal()), None)


def _inactive(path: Path) -> int:
    fields = _fields(path)
    return fields.get("total_inactive_file") or fields.get("inactive_file") or 0


def _fields(path: Path) -> dict[str, int]:
    pairs = (line.split(" ", 1) for line in _text(path).splitlines() if " " in line)
    return {name: int(value) for name, value in pairs}


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
