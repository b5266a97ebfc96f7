"""Processes around the measured one: parallel runs, bare interpreters, helpers, and what each of them uses.

Linux's /proc is the source. A job has a home directory of its own, and the variable HOME is what even a detached
helper (a tracker's service or agent) inherits: that is how helpers are found.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable


def run_in_parallel(count: int, work: Callable[[int], None]) -> None:
    """Run `work(number)` in `count` forked processes and wait for all; raises if one failed."""
    import multiprocessing

    context = multiprocessing.get_context("fork")
    children = [context.Process(target=work, args=(number,)) for number in range(count)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    if failed := [child.exitcode for child in children if child.exitcode]:
        raise RuntimeError(f"{len(failed)} of {count} processes failed, exit codes {failed}")


def run_bare(code: str, *arguments: str) -> str:
    """Run code in a fresh interpreter of this environment and return the last line that it printed."""
    done = subprocess.run([sys.executable, "-I", "-c", code, *arguments], check=True, capture_output=True, text=True)
    lines = done.stdout.strip().splitlines()
    return lines[-1] if lines else ""


def anonymous_bytes(pid: int | str = "self") -> int:
    """Return the memory of a process that is its own (heap, stacks), without files mapped or shared."""
    return _status_kib(pid, "RssAnon:") * 1024


def resident_bytes(pid: int | str = "self") -> int:
    """Return all memory of a process that is in RAM, shared libraries included."""
    return _status_kib(pid, "VmRSS:") * 1024


def _status_kib(pid: int | str, field: str) -> int:
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as stream:
            for line in stream:
                if line.startswith(field):
                    return int(line.split()[1])
    except (FileNotFoundError, ProcessLookupError):
        pass  # it has ended, and has none
    return 0


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds that a process has used so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stream:
        # The name in parentheses may hold anything; the fields after it are well formed.
        fields = stream.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def helpers() -> list[int]:
    """Return the other processes that this job brought to life and that still run."""
    return [pid for pid in processes_at_home(os.environ["HOME"]) if pid != os.getpid()]


def helpers_cpu_seconds() -> dict[int, float]:
    """Return what each of these has used so far."""
    used = {}
    for pid in helpers():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            used[pid] = cpu_seconds(pid)
    return used


def processes_at_home(home: str) -> list[int]:
    """Return the processes whose HOME is this directory: those of one job, however detached."""
    mark = f"HOME={home}".encode()
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/environ", "rb") as stream:
                if mark in stream.read().split(b"\0"):
                    found.append(int(entry))
        except OSError:  # gone meanwhile, or another user's
            continue
    return found
