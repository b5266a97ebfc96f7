"""Versions from their rows, with what lies in other tables: names, aliases, tags, the run that logged them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from strobe.store.artifacts.record import Version
from strobe.store.database import Cursor, Row, marks

_SELECT = """
SELECT v.id, v.token, p.entity, p.name, c.name, c.type, v.number, v.digest, v.algorithm, v.size, v.num_files,
       v.description, v.metadata, v.ttl_s, v.use_as, v.source, rp.entity, rp.name, r.name, v.step, v.created_ns,
       v.updated_ns, v.deleted_ns
FROM artifact_version v
JOIN artifact_collection c ON c.id = v.collection_id JOIN project p ON p.id = c.project_id
LEFT JOIN run r ON r.id = v.run_id LEFT JOIN project rp ON rp.id = r.project_id
"""
_AT_ONCE = 500


def load(cursor: Cursor, version_id: int) -> Version:
    """Return a version by its row id, with its aliases and tags."""
    (version,) = load_all(cursor, [version_id])
    return version


def load_all(cursor: Cursor, ids: Sequence[int]) -> list[Version]:
    """Return versions by their row ids, in that order."""
    found: dict[int, Version] = {}
    for start in range(0, len(ids), _AT_ONCE):
        some = list(ids[start : start + _AT_ONCE])
        where = f"IN ({marks(len(some))})"
        rows = cursor.all(f"{_SELECT} WHERE v.id {where}", *some)
        names, tags = _names(cursor, "artifact_alias", some), _names(cursor, "artifact_tag", some)
        latest = {
            row[0]
            for row in cursor.all(
                f"SELECT v.id FROM artifact_version v WHERE v.id {where} AND v.deleted_ns IS NULL AND NOT EXISTS ("
                "SELECT 1 FROM artifact_version w WHERE w.collection_id = v.collection_id AND w.number > v.number "
                "AND w.deleted_ns IS NULL)",
                *some,
            )
        }
        for row in rows:
            first = ["latest"] if row[0] in latest else []
            found[row[0]] = _version(row, [*first, *names.get(row[0], [])], tags.get(row[0], []))
    return [found[number] for number in ids]


def _names(cursor: Cursor, table: str, ids: list[int]) -> dict[int, list[str]]:
    sql = f"SELECT version_id, name FROM {table} WHERE version_id IN ({marks(len(ids))}) ORDER BY name"
    names: dict[int, list[str]] = {}
    for version_id, name in cursor.all(sql, *ids):
        names.setdefault(version_id, []).append(name)
    return names


def _version(row: Row, names: list[str], tags: list[str]) -> Version:
    _, token, entity, project, name, kind, number, digest, algorithm, size, num_files, *rest = row
    description, metadata, ttl_s, use_as, source, *run, step, created_ns, updated_ns, deleted_ns = rest
    return Version(
        id=token,
        entity=entity,
        project=project,
        name=name,
        type=kind,
        number=number,
        digest=digest,
        algorithm=algorithm,
        size=size,
        num_files=num_files,
        aliases=names,
        tags=tags,
        description=description,
        metadata=msgspec.json.decode(metadata),
        ttl_s=ttl_s,
        use_as=use_as,
        source=source,
        logged_by="/".join(run) if run[0] is not None else None,
        step=step,
        created_ns=created_ns,
        updated_ns=updated_ns,
        deleted_ns=deleted_ns,
    )
