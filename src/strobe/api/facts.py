"""What a recorded run is: its names, state, attempts and metadata, the part of it that needs no figures.

Whether that is read from journals or asked of a server is for the run's `Record` to know.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from strobe.errors import UsageError

if TYPE_CHECKING:
    from strobe.api.record import Attempted, Record, Recorded
    from strobe.api.user import User
    from strobe.home import RunDir

#: attributes that are fields of the run rather than facts about where it ran
EDITABLE = ("name", "notes", "tags", "group", "job_type")
RUNNING = "running"


class Facts:
    """The cheap half of a `Run`."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._path = record.path
        self._edits: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<Run {self._path} ({self.state})>"

    # --- where the facts come from

    @property
    def replay(self) -> Recorded:
        """Everything that is recorded of the run, added up."""
        return self._record.whole

    @property
    def _facts(self) -> Recorded:
        return self._record.facts

    @property
    def run_dir(self) -> RunDir:
        """Where the run lies; UsageError for one that lies on a server."""
        found = self._record.run_dir
        if found is None:
            raise UsageError(f"run {self._path} is on a server and has no directory here; `run.files()` has its files")
        return found

    @property
    def directory(self) -> str | None:
        """Where the run lies, if that is on this machine."""
        return None if self._record.run_dir is None else str(self._record.run_dir.path)

    # --- names

    @property
    def id(self) -> str:
        return self._path.id

    @property
    def entity(self) -> str:
        return self._path.entity

    @property
    def project(self) -> str:
        return self._path.project

    @property
    def path(self) -> list[str]:
        """[entity, project, id], as wandb gives it."""
        return [self.entity, self.project, self.id]

    @property
    def url(self) -> str | None:
        """Where the run is to be looked at; None in a home, which serves no pages."""
        return self._record.url

    def _attribute(self, key: str, default: Any = None) -> Any:
        found = self._edits.get(key, self._facts.attributes.get(key))
        return default if found is None else found

    @property
    def name(self) -> str:
        return str(self._attribute("name", self.id))

    @name.setter
    def name(self, name: str) -> None:
        self._edits["name"] = name

    display_name = name

    @property
    def notes(self) -> str:
        return str(self._attribute("notes", ""))

    @notes.setter
    def notes(self, notes: str) -> None:
        self._edits["notes"] = notes

    @property
    def tags(self) -> list[str]:
        # Handed out and kept, so that `run.tags.append("good"); run.update()` works as it does with wandb.
        tags: list[str] = self._edits.setdefault("tags", list(self._attribute("tags", [])))
        return tags

    @tags.setter
    def tags(self, tags: Sequence[str]) -> None:
        if isinstance(tags, str):
            raise UsageError(f"tags must be a list of strings, got the string {tags!r}; write [{tags!r}]")
        self._edits["tags"] = list(tags)

    @property
    def group(self) -> str | None:
        return self._attribute("group") or None

    @group.setter
    def group(self, group: str | None) -> None:
        self._edits["group"] = group or ""

    @property
    def job_type(self) -> str | None:
        return self._attribute("job_type") or None

    @job_type.setter
    def job_type(self, job_type: str | None) -> None:
        self._edits["job_type"] = job_type or ""

    # --- state

    @property
    def state(self) -> str:
        """running, finished, failed, crashed, killed or preempted."""
        return self._facts.state

    @property
    def created_ns(self) -> int:
        return self._record.created_ns

    @property
    def created_at(self) -> str:
        """When it was first started, UTC, ISO 8601."""
        return iso_time(self.created_ns)

    @property
    def ended_ns(self) -> int | None:
        return self._facts.ended_ns

    @property
    def runtime_s(self) -> float | None:
        """Seconds from the first start to the end, to now while it runs; None if a crash left no end."""
        if self.ended_ns is None and self.state != RUNNING:
            return None
        return max(0.0, ((self.ended_ns or time.time_ns()) - self.created_ns) / 1e9)

    @property
    def attempts(self) -> Sequence[Attempted]:
        """Each start of the run; `history(attempt=n)` gives what one logged, superseded or not."""
        return self._facts.attempts

    @property
    def num_rows(self) -> int:
        """How many rows were logged, superseded ones included."""
        return self._facts.num_rows

    @property
    def last_step(self) -> int | None:
        """The highest step, as far as the last row of each writer tells; quick. `lastHistoryStep` is exact."""
        return self._facts.last_step

    @property
    def rejected(self) -> int:
        """How many rows could not be recorded."""
        return self._facts.rejected

    @property
    def user(self) -> User:
        from strobe.api.user import User

        return User(username=str(self._attribute("user") or self.entity), entity=self.entity)

    @property
    def metadata(self) -> dict[str, Any]:
        """Where and how it ran: host, Python, command, git commit, …"""
        return {key: item for key, item in self._facts.attributes.items() if key not in EDITABLE}


def iso_time(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
