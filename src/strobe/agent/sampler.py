"""System metrics of runs: when to sample which run, and the rows in its own journal (kind "system").

The first row comes about a second after the run was first seen (rates need two readings), then one each
`stats_interval_s`. What is read is in `system`, `tree` and `gpu`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from strobe.agent.cgroup import read_memory
from strobe.agent.entry import Entry
from strobe.agent.gpu import Gpus, load_nvml
from strobe.agent.system import Counters, mount_point, rates, read_counters, read_gauges
from strobe.agent.task import WatchedRun
from strobe.agent.tree import Usage, describe_usage, read_usage

FIRST_AFTER_S = 1.0
_SHORTEST_INTERVAL_S = 0.1


class _Course:
    """Where the sampling of one run stands."""

    def __init__(self, counters: Counters, usage: Usage, disks: list[str]) -> None:
        self.first = self.before = counters
        self.usage = usage
        self.disks = disks
        self.due = counters.at + FIRST_AFTER_S
        self.num_rows = 0


class Sampler:
    """Writes a row of system metrics for each run that wants them."""

    def __init__(self, *, log: Callable[[str], None], load_gpu: Callable[[], Any | None] = load_nvml) -> None:
        self._log = log
        self._load_gpu = load_gpu
        self._psutil: Any = None
        self._gpus: Gpus | None = None
        self._courses: dict[WatchedRun, _Course] = {}
        #: why there are no system metrics at all, or None
        self.problem: str | None = None

    def poll(self, run: WatchedRun, now: float) -> None:
        wanting = [entry for entry in run.entries.values() if entry.stats]
        if not wanting or not self._is_ready():
            return
        course = self._courses.get(run)
        if course is None:
            self._courses[run] = self._begin(run, wanting, now)
        elif now >= course.due:
            interval = max(_SHORTEST_INTERVAL_S, min(entry.stats_interval_s for entry in wanting))
            # Counted from when it was due, so that the rows keep their distance; from now after a suspension.
            course.due += interval
            if course.due <= now:
                course.due = now + interval
            self._write(run, course, wanting, now)

    def is_pending(self, run: WatchedRun) -> bool:
        return False

    def close(self, run: WatchedRun) -> None:
        self._courses.pop(run, None)

    def _begin(self, run: WatchedRun, wanting: list[Entry], now: float) -> _Course:
        # The run's own disk too: when that is full, rows are rejected.
        asked = [path for entry in wanting for path in entry.stats_disk_paths]
        disks = list(dict.fromkeys((*asked, mount_point(str(run.run_dir.path)))))
        return _Course(read_counters(now, self._psutil), self._read_usage(wanting, now), disks)

    def _read_usage(self, wanting: list[Entry], now: float) -> Usage:
        return read_usage([entry.pid for entry in wanting], now, self._psutil)

    def _write(self, run: WatchedRun, course: _Course, wanting: list[Entry], now: float) -> None:
        counters = read_counters(now, self._psutil)
        usage = self._read_usage(wanting, now)
        if not usage.pids:
            return  # all have ended between two polls: nothing to say about them
        row = rates(course.first, course.before, counters) | read_gauges(self._psutil, course.disks)
        total = self._psutil.virtual_memory().total
        row |= describe_usage(course.usage, usage, num_cpus=counters.num_cpus, memory_total=total)
        row |= read_memory(wanting[0].pid)  # writers of one run on one machine share a container or job
        if self._gpus is not None:
            row |= self._gpus.sample(usage.pids, _gpu_ids(wanting))
        course.before, course.usage = counters, usage
        journal = run.journal("system")
        if journal is not None:
            journal.row(row, course.num_rows)
            course.num_rows += 1

    def _is_ready(self) -> bool:
        if self._psutil is None and self.problem is None:
            try:
                import psutil
            except ImportError as error:
                self.problem = f"no system metrics: {error}"
                self._log(self.problem)
                return False
            self._psutil = psutil
            nvml = self._load_gpu()
            self._gpus = Gpus(nvml) if nvml is not None else None
        return self._psutil is not None


def _gpu_ids(wanting: list[Entry]) -> set[int] | None:
    """Return the GPUs that one of the writers asked for; None for all, which one is enough to ask for."""
    ids: set[int] = set()
    for entry in wanting:
        if entry.stats_gpu_ids is None:
            return None
        ids.update(entry.stats_gpu_ids)
    return ids
