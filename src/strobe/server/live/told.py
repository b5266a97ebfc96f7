"""What is told of a run: its row, changes in what it adds up to, its new points. `routes.live` documents the fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from strobe.journal import value
from strobe.server.live.source import Fresh, Seen


def told_run(run: Seen) -> dict[str, Any]:
    return {
        "run": run.path,
        "version": run.version,
        "state": run.state,
        "changed_ns": run.changed_ns,
        "started_ns": run.started_ns,
        "ended_ns": run.ended_ns,
        "num_rows": run.num_rows,
        "is_deleted": run.deleted_ns is not None,
        "stop_by": run.stop_by,
    }


def told_document(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> dict[str, Any]:
    """Return what changed in what a run adds up to; everything, if nothing is known of before."""
    told = {part: now[part] for part in now if part != "summary" and (before is None or before[part] != now[part])}
    if "display_name" in told:
        told["name"] = told.pop("display_name")  # as in lists of runs
    return told | _told_summary(before and before["summary"], now["summary"] or {})


def _told_summary(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> dict[str, Any]:
    if before is None:
        return {"summary": dict(now)}
    changed = {key: item for key, item in now.items() if key not in before or not _same(before[key], item)}
    removed = [key for key in before if key not in now]
    return ({"summary": changed} if changed else {}) | ({"removed": removed} if removed else {})


def told_points(run: Seen, key: str, news: Fresh) -> dict[str, Any]:
    """Return new points as columns; more than are sent one by one are only mentioned."""
    told: dict[str, Any] = {"run": run.path, "key": key, "version": run.version}
    if news.replaces_from is not None:
        told["replaces_from"] = news.replaces_from
    if news.points is None:
        return {**told, "is_cut": True}
    columns = {"steps": news.points.step, "times_ns": news.points.time_ns, "values": news.points.value}
    return told | {name: column.tolist() for name, column in columns.items()}


def _same(left: Any, right: Any) -> bool:
    """Tell whether two values are the same; NaN is itself."""
    return value.encode_decoded(left) == value.encode_decoded(right)
