"""What a server says about a run: its document, whole or as a list shows it, and the answers around it."""

from __future__ import annotations

import fnmatch
import math
from typing import Any

import msgspec

from strobe.home import RunPath
from strobe.journal.digest import MetricDigest
from strobe.journal.event import Alert
from strobe.journal.goal import goal_of
from strobe.wire import digest as wire


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One start of the run."""

    number: int
    state: str
    started_ns: int | None = None
    ended_ns: int | None = None
    from_step: int | None = None
    writers: list[str] = []
    rejected: int = 0
    exit_code: int | None = None
    error: str | None = None
    share: float | None = None


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A run. What a list leaves out is UNSET in it."""

    entity: str
    project: str
    id: str
    name: str
    state: str
    created_ns: int
    ended_ns: int | None
    num_rows: int
    last_step: int | None = None
    tags: list[Any]
    notes: str
    group: str | None
    job_type: str | None
    user: str
    config: dict[str, Any] | None
    summary: dict[str, Any] | None
    metadata: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    attempts: list[Attempt] = []
    keys: list[str] = []
    metrics: dict[str, dict[str, Any]] = {}

    @property
    def path(self) -> RunPath:
        return RunPath(self.entity, self.project, self.id)

    @property
    def is_whole(self) -> bool:
        return self.metadata is not msgspec.UNSET

    def goal(self, key: str) -> str | None:
        """Return which way is better for a metric: as it was defined, else as its name tells."""
        patterns = [name for name in self.metrics if fnmatch.fnmatchcase(key, name)]
        defined = self.metrics.get(key) or self.metrics.get(max(patterns, key=len, default=""), {})
        return goal_of(key, defined.get("goal"), defined.get("summary") or ())


class RunPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some runs of a list."""

    items: list[Document]
    cursor: str | None = None
    total: int | None = None


class Digest(wire.Digest, frozen=True, kw_only=True):
    """What one key comes to."""

    def digest(self, goal: str | None, spark: list[tuple[float, int]]) -> MetricDigest:
        """Return it as a replay of journals would give it."""
        found = MetricDigest()
        for name in ("count", "min_step", "max_step", "first", "last", "first_step", "last_step", "nan"):
            setattr(found, name, getattr(self, name))
        found.posinf, found.neginf, found.goal = self.posinf, self.neginf, goal
        found.min = math.inf if self.min is None else self.min
        found.max = -math.inf if self.max is None else self.max
        found.sum = (self.mean or 0.0) * found.num_finite
        found.set_spark(spark)
        return found


class Digests(msgspec.Struct, frozen=True):
    digests: dict[str, Digest]


class HistoryPage(msgspec.Struct, frozen=True):
    """Rows."""

    items: list[dict[str, Any]]
    cursor: str | None = None


class ConsoleLine(msgspec.Struct, frozen=True):
    text: str


class ConsolePage(msgspec.Struct, frozen=True):
    """Lines; `cursor` is the number of the following one."""

    items: list[ConsoleLine]
    cursor: str | None = None


class AlertFacts(msgspec.Struct, frozen=True):
    title: str
    text: str
    level: str
    time_ns: int = 0

    def event(self) -> Alert:
        return Alert(time_ns=self.time_ns, title=self.title, text=self.text, level=self.level)


class AlertPage(msgspec.Struct, frozen=True):
    items: list[AlertFacts]
    cursor: str | None = None


class ProjectFacts(msgspec.Struct, frozen=True):
    entity: str
    name: str


class ProjectPage(msgspec.Struct, frozen=True):
    items: list[ProjectFacts]
    cursor: str | None = None


class Identity(msgspec.Struct, frozen=True):
    """Who the server takes us for."""

    entity: str | None = None
    user: str | None = None
