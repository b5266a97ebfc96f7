"""The memory limit of a run's control group: what a container or batch job is killed for exceeding.

`system.memory_percent` is the machine's; in a container with 8 of 512 GB it says nothing. Reads version 2 of the
interface and version 1's memory controller; where there is no limit, or no control groups, there is no figure.
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


def _limits(pid: int, proc: Path, mount: Path) -> Iterator[tuple[int, int]]:
    """Yield limit and use of each group above a process that has a limit."""
    for directory, names in _groups(pid, proc, mount):
        limit, used = _number(directory / names[0]), _number(directory / names[1])
        if limit is not None and used is not None and 0 < limit < _NO_LIMIT:
            yield limit, max(0, used - _inactive(directory / "memory.stat"))


def _groups(pid: int, proc: Path, mount: Path) -> Iterator[tuple[Path, tuple[str, str]]]:
    """Yield the directories of the process's group and those above it, with the names of limit and use."""
    for line in _text(proc / str(pid) / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, names = mount, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            root, names = mount / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        # Seen from inside a container the path may begin with /.. or not be mounted; the root is its own group then.
        group = PurePosixPath(path.lstrip("/"))
        for part in () if ".." in group.parts else (group, *group.parents):
            yield root / part, names
        yield root, names


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdecimal() else None


def _inactive(path: Path) -> int:
    fields = dict(line.split(" ", 1) for line in _text(path).splitlines() if " " in line)
    return int(fields.get("total_inactive_file") or fields.get("inactive_file") or 0)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
