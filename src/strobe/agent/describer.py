"""Describing a run's environment once: git, requirements, host facts. Slow, so it happens here and on a thread.

What the description holds is `strobe.environment.facts`'s business; how the answer gets into the journal is ours.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from strobe.agent.entry import Entry
from strobe.agent.log import Log
from strobe.agent.task import WatchedRun
from strobe.journal import event

Describe = Callable[[Entry], dict[str, Any]]


class Describer:
    """Has each run that wants it described once, also across restarts of the agent (`described`, `note`)."""

    def __init__(
        self, described: list[str], note: Callable[[list[str]], None], log: Log, *, describe: Describe | None = None
    ) -> None:
        self._described = list(described)
        self._note = note
        self._log = log
        self._describe = describe or _describe_environment
        self._jobs: dict[WatchedRun, _Job] = {}

    def poll(self, run: WatchedRun, now: float) -> None:
        job = self._jobs.get(run)
        if job is not None and job.is_done():
            del self._jobs[run]
            self._record(run, job)
        elif job is None:
            entry = next((e for e in run.entries.values() if e.describe and e.writer not in self._described), None)
            if entry is not None:
                self._jobs[run] = _Job(entry, self._describe, self._log)

    def is_pending(self, run: WatchedRun) -> bool:
        return run in self._jobs

    def close(self, run: WatchedRun) -> None:
        self._jobs.pop(run, None)

    def _record(self, run: WatchedRun, job: _Job) -> None:
        self._described = [*self._described[-999:], job.entry.writer]
        if job.answer and (journal := run.journal("agent")) is not None:
            journal.event(event.Attributes(time_ns=time.time_ns(), changes=job.answer))
        self._note(self._described)


class _Job:
    def __init__(self, entry: Entry, describe: Describe, log: Log) -> None:
        self.entry = entry
        self.answer: dict[str, Any] = {}
        self._describe = describe
        self._log = log
        self._thread = threading.Thread(target=self._run, name=f"describe-{entry.writer}", daemon=True)
        self._thread.start()

    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self.answer = self._describe(self.entry)
        except Exception:  # noqa: BLE001 - the outermost frame of this thread; logged and counted
            self._log.exception(f"describing {self.entry.run_dir}")


def _describe_environment(entry: Entry) -> dict[str, Any]:
    from strobe.environment import facts as environment

    found = environment.describe(
        entry.cwd,
        entry.argv,
        entry.sys_path,
        git=not entry.disable_git,
        git_root=entry.git_root,
        git_remote=entry.git_remote,
        diff=not entry.disable_code,
        requirements=entry.save_requirements,
        machine=entry.machine_info,
        redact=entry.redact,
    )
    return {name: fact for name, fact in found.items() if name not in entry.given}
