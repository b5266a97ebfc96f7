"""Everything a journal holds besides rows: one small struct per thing that happened.

Events are msgpack maps tagged by `type`; a reader skips (and counts) types it does not know, so that an older
Strobe can read what a newer one added. `time_ns` is the writer's wall clock.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """Something that happened to a run at `time_ns`."""

    time_ns: int


class Started(Event, frozen=True, kw_only=True, tag="started"):
    """A writer began. The primary writer of an attempt carries the run's attributes."""

    primary: bool = True
    #: whether the end of this writer, if it is primary, is an end of the run
    ends_run: bool = True
    #: rows of earlier attempts at or after this step are superseded, whatever their key (rewind)
    from_step: int | None = None
    #: "entity/project/id" and the last step taken over from it
    forked_from: str | None = None
    fork_step: int | None = None
    pid: int = 0
    #: process start time and identity of host, boot and pid namespace: enough to tell whether it still lives
    pid_started: float = 0.0
    host: str = ""
    boot_id: str = ""
    pid_namespace: str = ""
    rank: int | None = None
    #: name, group, job_type, tags, notes, program, command, cwd, python, sys_path, git_commit, mode, strobe_version …
    attributes: dict[str, Any] = {}


class Attributes(Event, frozen=True, kw_only=True, tag="attributes"):
    """Run attributes that were set or found out after the start; top-level keys replace."""

    changes: dict[str, Any]


class Config(Event, frozen=True, kw_only=True, tag="config"):
    """Config keys set (top-level keys replace) and removed."""

    changes: dict[str, Any] = {}
    removed: list[str] = []


class Summary(Event, frozen=True, kw_only=True, tag="summary"):
    """Summary keys that the user set or removed; they win over what is computed from rows before them."""

    changes: dict[str, Any] = {}
    removed: list[str] = []


class Metric(Event, frozen=True, kw_only=True, tag="metric"):
    """A `define_metric` call; `name` may be a glob."""

    name: str
    step_metric: str | None = None
    step_sync: bool | None = None
    hidden: bool | None = None
    #: subset of min, max, mean, first, last, best, none, copy
    summary: list[str] = []
    goal: str | None = None
    overwrite: bool = False


class Console(Event, frozen=True, kw_only=True, tag="console"):
    """Text that the process wrote; may hold several lines and carriage returns."""

    stream: str
    text: str


class SavedFile(Event, frozen=True, kw_only=True, tag="file"):
    """A file of the run under `files/`."""

    path: str
    policy: str = "live"
    source: str | None = None


class ArtifactUse(Event, frozen=True, kw_only=True, tag="artifact"):
    """The run logged (`action="log"`) or used (`action="use"`) an artifact version."""

    action: str
    name: str
    kind: str
    version: str
    digest: str
    aliases: list[str] = []


class Alert(Event, frozen=True, kw_only=True, tag="alert"):
    """A message that should reach a person."""

    title: str
    text: str
    level: str = "INFO"


class Ended(Event, frozen=True, kw_only=True, tag="ended"):
    """A writer ended. `state` is finished, failed, killed, crashed or preempted."""

    state: str
    exit_code: int | None = None
    error: str | None = None
    #: rows the writer could not record, and its own share of the run's time
    rejected: int = 0
    share: float | None = None
    #: the writer that ended, when somebody else (the agent) says so
    writer: str | None = None


class Unknown(Event, frozen=True, kw_only=True, tag="unknown"):
    """Stands for an event of a type that this version does not know."""

    name: str
    fields: dict[str, Any] = {}


AnyEvent = Started | Attributes | Config | Summary | Metric | Console | SavedFile | ArtifactUse | Alert | Ended
