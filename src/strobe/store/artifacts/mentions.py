"""What runs say of artifacts: that they logged or used a version, by the names and digests of their own home.

A run's events and the versions that they name come by different ways, in any order, maybe never. So both sides look for
the other, each after what it brought is committed: settling a run looks for versions, committing a version for runs.
Whoever is later finds the other; doing it again changes nothing.

The content decides: project, name and digest. Numbers may differ between a home and a server; they only tell versions
of the same content apart.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from strobe.artifact.name import ArtifactPath, version_number
from strobe.errors import UsageError
from strobe.home import LOCAL_ENTITY
from strobe.journal.event import ArtifactUse
from strobe.store.artifacts import lineage
from strobe.store.artifacts.record import Role
from strobe.store.database import Cursor, Row, in_parts, marks
from strobe.store.state import decode_facts

_ROLES: dict[str, Role] = {"log": "logged", "use": "used"}
#: digests of artifacts have 32 digits; what is longer is none, and too long for an index
_MAX_DIGEST = 128
_NO_NUMBER = -1
_RUNS_AT_ONCE = 200

# Whoever knows the digest has had the content, so a run may name any project's; whether somebody sees the link is
# decided when he asks. The entity that stands for "here" in a home is the run's own on a server.
_PAIRS = f"""
SELECT m.id, m.run_id, m.role, m.number, m.time_ns, m.is_linked, v.id, v.number
FROM artifact_mention m
JOIN run r ON r.id = m.run_id JOIN project own ON own.id = r.project_id
JOIN project p ON p.name = m.project
    AND p.entity = CASE WHEN m.entity = '{LOCAL_ENTITY}' THEN own.entity ELSE m.entity END
JOIN artifact_collection c ON c.project_id = p.id AND c.name = m.name
JOIN artifact_version v ON v.collection_id = c.id AND v.digest = m.digest AND v.number IS NOT NULL
"""
#: what was deleted counts if there is nothing else: it may be brought back
_ORDER = "ORDER BY m.id, CASE WHEN v.deleted_ns IS NULL THEN 1 ELSE 0 END, v.number"


class _Pair(msgspec.Struct, array_like=True):
    mention_id: int
    run_id: int
    role: Role
    number: int
    time_ns: int
    is_linked: int
    version_id: int
    version_number: int


def note(cursor: Cursor, run_id: int, entity: str, project: str, uses: Iterable[ArtifactUse]) -> None:
    """Remember what a run of a project says; what cannot mean a version is left out."""
    rows = [row for use in uses if (row := _row(run_id, entity, project, use)) is not None]
    cursor.many(
        "INSERT INTO artifact_mention (run_id, role, entity, project, name, number, digest, time_ns) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id, role, entity, project, name, number, digest) DO NOTHING",
        rows,
    )


def link_run(cursor: Cursor, run_id: int) -> None:
    """Link a run, whose row is locked, with the versions that are here by now."""
    _link(cursor, _choose(cursor.all(f"{_PAIRS} WHERE m.run_id = ? AND m.is_linked = 0 {_ORDER}", run_id)))


def link_version(cursor: Cursor, token: str) -> None:
    """Link a version, by its public id, with the runs that named it. It must have been committed before."""
    found = cursor.one("SELECT collection_id, digest FROM artifact_version WHERE token = ?", token)
    if found is None:
        return
    chosen = _choose(cursor.all(f"{_PAIRS} WHERE c.id = ? AND m.digest = ? {_ORDER}", *found))
    # Locked before anything is written, as those who settle runs do: so nobody waits for the other in a circle.
    there: set[int] = set()
    for some in in_parts(sorted({pair.run_id for pair in chosen})):
        sql = f"SELECT id FROM run WHERE id IN ({marks(len(some))}) ORDER BY id{cursor.dialect.for_update}"
        there.update(row[0] for row in cursor.all(sql, *some))
    _link(cursor, [pair for pair in chosen if pair.run_id in there])


def note_all(cursor: Cursor) -> None:
    """Remember what the runs of a store said that did not listen."""
    last = 0
    sql = (
        "SELECT r.id, p.entity, p.name, r.facts FROM run r JOIN project p ON p.id = r.project_id "
        "WHERE r.id > ? ORDER BY r.id LIMIT ?"
    )
    while rows := cursor.all(sql, last, _RUNS_AT_ONCE):
        for run_id, entity, project, facts in rows:
            said = decode_facts(facts).artifacts.values()
            note(cursor, run_id, entity, project, [msgspec.convert(it.value, ArtifactUse) for it in said])
        last = rows[-1][0]
    cursor.run("UPDATE run SET is_dirty = 1 WHERE id IN (SELECT run_id FROM artifact_mention)")


def _row(run_id: int, entity: str, project: str, use: ArtifactUse) -> Row | None:
    role = _ROLES.get(use.action)
    if role is None or not 0 < len(use.digest) <= _MAX_DIGEST:
        return None
    try:
        path = ArtifactPath.parse(use.name, entity=entity, project=project)
    except UsageError:
        return None
    number = version_number(use.version)
    if number is None or number >= 2**63:
        number = _NO_NUMBER
    return run_id, role, path.entity, path.project, path.name, number, use.digest, use.time_ns


def _choose(rows: Iterable[Row]) -> list[_Pair]:
    """Return one version for each mention: that of its number, else the newest, unless it has one already."""
    by_mention: dict[int, list[_Pair]] = {}
    for row in rows:
        pair = _Pair(*row)
        by_mention.setdefault(pair.mention_id, []).append(pair)
    chosen = []
    for pairs in by_mention.values():
        same = [pair for pair in pairs if pair.version_number == pair.number]
        chosen += same or ([] if pairs[-1].is_linked else pairs[-1:])
    return chosen


def _link(cursor: Cursor, chosen: Iterable[_Pair]) -> None:
    for pair in chosen:
        lineage.note(cursor, pair.version_id, pair.run_id, pair.role, None, pair.time_ns)
        cursor.run("UPDATE artifact_mention SET is_linked = 1 WHERE id = ?", pair.mention_id)
