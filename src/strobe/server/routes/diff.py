"""What differs between runs: config, environment and summary, key by key."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from strobe.api.diff import diff_mappings
from strobe.api.filter import ABSENT
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import PathText
from strobe.server.routes.series import readable_runs
from strobe.store.runs import RunView

_MAX_RUNS = 100
Section = Literal["config", "environment", "summary"]
_SECTIONS: tuple[Section, ...] = ("config", "environment", "summary")
#: facts that differ between any two runs and explain nothing
_NOISE = frozenset(
    {"pid", "started_at", "sys_path", "writer", "boot_id", "pid_namespace", "pid_started", "disk_free_bytes"}
)
_OWN = frozenset({"name", "notes", "tags", "group", "job_type"})


class DiffBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Which runs are compared, and how."""

    #: paths: entity/project/run
    runs: Annotated[list[PathText], Meta(min_length=2, max_length=_MAX_RUNS)]
    sections: tuple[Section, ...] = _SECTIONS
    #: patterns with * and ? for "section.key"
    ignore: Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=100)] = []
    #: all keys, and not only those that differ
    everything: bool = False


class DiffLine(msgspec.Struct, kw_only=True):
    """One key and its value in each run, in the order of the runs."""

    section: Section
    key: str
    values: list[Any]
    #: whether each run has it at all
    present: list[bool]
    differs: bool


class Diff(msgspec.Struct, kw_only=True):
    runs: list[str]
    items: list[DiffLine]


@endpoint("POST", "/api/v1/diff", body=DiffBody, returns=Diff, access="read", tag="runs")
async def diff_runs(call: Call, body: DiffBody) -> Diff:
    """Compare runs key by key. Nested keys are dotted; NaN is the same as NaN, 1 the same as 1.0, true is not 1."""
    rows = await readable_runs(call, body.runs)
    get = call.services.store.runs.get
    views: list[RunView] = [await call.in_thread(get, row.path) for row in rows]
    items = await call.in_thread(_compare, views, body)
    return Diff(runs=[str(row.path) for row in rows], items=items)


def _compare(views: list[RunView], body: DiffBody) -> list[DiffLine]:
    lines = []
    for section in _SECTIONS:
        if section in body.sections:
            found = diff_mappings(section, [_mapping(view, section) for view in views], everything=body.everything)
            lines += [
                DiffLine(
                    section=section,
                    key=row.key,
                    values=[None if value is ABSENT else value for value in row.values],
                    present=[value is not ABSENT for value in row.values],
                    differs=row.differs,
                )
                for row in found
                if not any(fnmatchcase(f"{section}.{row.key}", pattern) for pattern in body.ignore)
            ]
    return lines


def _mapping(view: RunView, section: Section) -> Mapping[str, Any]:
    if section == "config":
        return view.config
    if section == "summary":
        return view.summary
    return {key: found for key, found in view.attributes.items() if key not in _NOISE and key not in _OWN}


ENDPOINTS = [diff_runs]
