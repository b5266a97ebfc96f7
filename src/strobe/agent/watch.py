"""Watching `home.active`: which runs there are, and the tasks' turn for each of them.

Knows neither clocks nor processes nor what tasks do, so a test can drive it with a temporary directory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from strobe.agent.entry import ActiveEntries, Entry
from strobe.agent.log import Log
from strobe.agent.task import HomeTask, Task, WatchedRun
from strobe.home import RunDir

_POLL_S = 1.0
_SHORTEST_POLL_S = 0.1


class Watch:
    """All runs of a home that this agent looks after."""

    def __init__(self, active: ActiveEntries, tasks: Sequence[Task], log: Log) -> None:
        self.active = active
        self.runs: dict[tuple[str, int], WatchedRun] = {}
        self._tasks = tasks
        self._home_tasks = [task for task in tasks if isinstance(task, HomeTask)]
        self._log = log
        self._refused: dict[str, str] = {}

    def poll(self, now: float) -> None:
        """Look for new and ended writers, then give each task its turn with each run."""
        self._arrange(self.active.scan())
        for run in list(self.runs.values()):
            for task in self._tasks:
                self._guarded(task, run, now)
        self._close_ended()
        for home_task in self._home_tasks:
            try:
                home_task.tick(now)
            except Exception:  # noqa: BLE001 - as below; logged with a traceback and counted
                self._log.exception(f"{type(home_task).__name__}")

    def is_busy(self) -> bool:
        """Tell whether there is anything to stay for, as of the last poll."""
        return bool(self.runs) or any(task.is_busy() for task in self._home_tasks)

    def has_runs(self) -> bool:
        """Tell whether there is a run to stay for, looking anew."""
        return bool(self.runs) or bool(self.active.scan())

    def has_news(self) -> bool:
        """Tell whether it is worth polling before the delay is over."""
        return self.active.has_changed()

    def delay(self) -> float:
        """Return the seconds until the next poll."""
        wanted = [entry.stats_interval_s for run in self.runs.values() for entry in run.entries.values() if entry.stats]
        return max(_SHORTEST_POLL_S, min([_POLL_S, *wanted]))

    def close(self) -> None:
        """Let go of all runs; whoever comes next finds them in `home.active` again."""
        for key in list(self.runs):
            self._close(key)
        for task in self._home_tasks:
            task.shut()

    def _arrange(self, entries: dict[str, Entry]) -> None:
        if self.active.refused != self._refused:
            self._refused = dict(self.active.refused)
            for name, reason in self._refused.items():
                self._log.write(f"cannot use {name}: {reason}")
        by_run: dict[tuple[str, int], dict[str, Entry]] = {}
        for entry in entries.values():
            by_run.setdefault((entry.run_dir, entry.attempt), {})[entry.writer] = entry
        for key in by_run.keys() - self.runs.keys():
            self.runs[key] = WatchedRun(RunDir(Path(key[0])), key[1], warn=self._log.write)
        for key, run in self.runs.items():
            run.take(by_run.get(key, {}))

    def _close_ended(self) -> None:
        for key, run in list(self.runs.items()):
            if not run.entries and not any(task.is_pending(run) for task in self._tasks):
                self._close(key)

    def _close(self, key: tuple[str, int]) -> None:
        run = self.runs.pop(key)
        try:
            for task in self._tasks:
                task.close(run)
            run.close()
        except Exception:  # noqa: BLE001 - the agent's loop survives what one run does to it
            self._log.exception(f"closing {run.run_dir.path}")

    def _guarded(self, task: Task, run: WatchedRun, now: float) -> None:
        try:
            task.poll(run, now)
        except Exception:  # noqa: BLE001 - as above; logged with a traceback and counted
            self._log.exception(f"{type(task).__name__} for {run.run_dir.path}")
