"""The runs of a page with what a table shows of them: read whole from their rows, not from the index, which cuts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from strobe.home import RunPath
from strobe.journal import value
from strobe.store.database import Cursor, marks
from strobe.store.values.document import document
from strobe.store.values.field import split_field

_CHUNK = 500
_COLUMNS = (
    "run.id, run.settled, project.entity, project.name, run.name, run.state, run.created_ns, run.started_ns,"
    " run.ended_ns, run.heartbeat_ns, run.changed_ns, run.version, run.deleted_ns, run.stop_by, run.num_rows,"
    " run.parent, run.fork_step"
)


@dataclass(frozen=True, slots=True)
class Item:
    """A run as a list shows it. Its document is as of the last time that it was settled, a moment ago at most."""

    document: dict[str, Any]
    entity: str
    project: str
    id: str
    state: str
    created_ns: int
    #: 0 if nobody has said so yet
    started_ns: int
    ended_ns: int | None
    heartbeat_ns: int
    changed_ns: int
    version: int
    deleted_ns: int | None
    #: who wants it to stop
    stop_by: str | None
    num_rows: int
    #: the path of the run that it was forked from, and the last step taken over
    parent: str | None
    fork_step: int | None

    @property
    def path(self) -> RunPath:
        return RunPath(self.entity, self.project, self.id)

    def field(self, name: str, now_ns: int) -> Any:
        """Return a field by the name that filters use; None if the run has none of that name."""
        section, key = split_field(name)
        if key:
            return _dig(self.document.get(section, {}), key)
        if section == "runtime":
            return self.runtime_s(now_ns)
        if section == "created_at":
            return datetime.fromtimestamp(self.created_ns // 10**9, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        if section == "started_ns":
            return self.started_ns or None
        return self.document.get(section, getattr(self, section, None))

    def runtime_s(self, now_ns: int) -> float | None:
        """Return the seconds from its start to its end, or to now; None if nobody knows when it ended."""
        ended_ns = self.ended_ns if self.ended_ns is not None else now_ns if self.state == "running" else None
        return None if ended_ns is None else (ended_ns - self.created_ns) / 1e9


def _dig(mapping: Mapping[str, Any], path: str) -> Any:
    """Return what lies at a dotted path; of keys that contain dots themselves the longest counts."""
    if path in mapping:
        return mapping[path]
    for cut in range(len(path) - 1, 0, -1):
        if path[cut] == "." and isinstance(inner := mapping.get(path[:cut]), Mapping):
            found = _dig(inner, path[cut + 1 :])
            if found is not None:
                return found
    return None


def read_items(cursor: Cursor, run_ids: Sequence[int]) -> list[Item]:
    """Return runs in the order of their numbers here; those that are gone are left out."""
    found: dict[int, Item] = {}
    for start in range(0, len(run_ids), _CHUNK):
        part = run_ids[start : start + _CHUNK]
        rows = cursor.all(
            f"SELECT {_COLUMNS} FROM run JOIN project ON project.id = run.project_id"
            f" WHERE run.id IN ({marks(len(part))})",
            *part,
        )
        found.update((row[0], _item(*row[1:])) for row in rows)
    return [found[run_id] for run_id in run_ids if run_id in found]


def _item(settled: bytes | None, entity: str, project: str, run: str, *columns: Any) -> Item:
    known = value.decode(settled) if settled else document(run=run, entity=entity, attributes={}, config={}, summary={})
    return Item(known, entity, project, run, *columns)
