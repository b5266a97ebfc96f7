"""Who and where a process is: enough to tell later, from the same machine, whether it still lives.

A pid alone is reused; a pid with its start time, the machine's boot and the pid namespace is not. Only somebody on the
same host, boot and namespace can judge: everybody else gets None, never a guess.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache

#: process start times are read in clock ticks; two readings of one process differ by less than this
_START_TOLERANCE_S = 1.5


@lru_cache(maxsize=1)
def host_id() -> str:
    """Return a name for this machine that survives reboots."""
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        if text := _read_text(path):
            # A container image may carry its builder's machine id, so the host name is part of the identity.
            return f"{_node_name()}-{text[:12]}"
    return _node_name()


@lru_cache(maxsize=1)
def boot_id() -> str:
    """Return a name for this boot of the machine, or "" where the system has none."""
    return _read_text("/proc/sys/kernel/random/boot_id")


@lru_cache(maxsize=1)
def pid_namespace() -> str:
    """Return the pid namespace, so that equal pids in two containers are told apart."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def process_started(pid: int) -> float | None:
    """Return when process `pid` started (seconds since boot on Linux, else since the epoch); None if it is gone."""
    if sys.platform == "linux":
        return _linux_started(pid)
    import psutil  # heavy; Linux, where nearly all training runs, does not need it

    try:
        return float(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:
        return 0.0


def is_alive(pid: int, started: float, host: str, boot: str, namespace: str) -> bool | None:
    """Tell whether that process still lives; None when it cannot be told from here."""
    if host != host_id():
        return None
    if boot != boot_id():
        return False
    if namespace != pid_namespace():
        return None
    now_started = process_started(pid)
    if now_started is None:
        return None if _is_hidden(pid) else False
    return abs(now_started - started) < _START_TOLERANCE_S


def _is_hidden(pid: int) -> bool:
    """Tell whether `pid` is somebody else's, and the system shows us nothing of it (Linux with hidepid)."""
    if sys.platform != "linux" or os.path.exists(f"/proc/{pid}"):
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        pass
    return False


def _linux_started(pid: int) -> float | None:
    stat = _read_text(f"/proc/{pid}/stat")
    if not stat:
        return None
    # The command name may hold spaces and parentheses; fields are counted after the last ")".
    fields = stat[stat.rindex(")") + 2 :].split()
    if fields[0] in "ZX":
        return None
    return int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read().strip()
    except OSError:
        return ""


def _node_name() -> str:
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "unknown")
