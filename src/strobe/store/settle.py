"""Settling: bringing the summary of runs, and the index of their values, up to what was taken in.

Taking in a batch only marks its run. A moment later, or when the run ends, what it adds up to is computed once for all
batches in between, and only what differs is written. A server does this all the time; whoever asks for the index right
after sending something calls `settle` first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from strobe.errors import Error, StoreError
from strobe.home import LOCAL_ENTITY, RunPath
from strobe.journal import value
from strobe.store.artifacts import mentions
from strobe.store.database import Cursor, Database
from strobe.store.lines import read_book
from strobe.store.run_facts import read_facts
from strobe.store.series.page import POINTS_PER_PAGE
from strobe.store.state import values
from strobe.store.summary import summarize
from strobe.store.tail import fold_tail
from strobe.store.values import Values, document


class Settler:
    """Keeps the index of a store up to date."""

    def __init__(self, database: Database, index: Values) -> None:
        self._database = database
        self._index = index
        #: the last run of a turn that did not get to the end: the next one goes on behind it
        self._after = 0

    def settle(self, *, limit: int = 1000) -> int:
        """Bring up to `limit` runs up to date; return how many were. One that cannot be does not keep the others."""
        sql = "SELECT id FROM run WHERE is_dirty = 1 AND id > ? ORDER BY id LIMIT ?"
        found = self._database.read(lambda cursor: cursor.all(sql, self._after, limit))
        self._after = found[-1][0] if len(found) == limit else 0
        count, faults = 0, []
        for (run_id,) in found:
            try:
                count += self._settle(run_id)
            except (Error, ValueError, TypeError, LookupError) as error:
                faults.append((run_id, error))
        if faults:
            numbers = ", ".join(str(run_id) for run_id, _ in faults)
            raise StoreError(f"runs {numbers} could not be settled: {faults[0][1]}") from faults[0][1]
        return count

    def _settle(self, run_id: int) -> bool:
        # Added up in a view of one moment, of the runs that it forked from as well, while others go on writing: with
        # thousands of keys it takes its time. What comes in meanwhile leaves the run marked, for the next turn.
        found = self._database.read(partial(_add_up, run_id))
        return found is not None and self._database.write(partial(self._note, run_id, found))

    def _note(self, run_id: int, found: _Sum, cursor: Cursor) -> bool:
        row = cursor.one(
            "SELECT project_id, settled, version, changed_ns, state, tail_rows FROM run WHERE id = ? AND is_dirty = 1"
            f"{cursor.dialect.for_update}",
            run_id,
        )
        if row is None:  # another server was quicker
            return False
        project_id, settled, version, changed_ns, state, tail_rows = row
        old: dict[str, Any] = value.decode(settled) if settled else {}
        body = value.encode_decoded({**found.document, "last_step": found.last_step})
        old.pop("last_step", None)
        self._index.replace(cursor, project_id, run_id, old, found.document)
        if body != settled:
            _mark_forks(cursor, run_id, changed_ns)
        mentions.link_run(cursor, run_id)
        if state != "running" and tail_rows >= POINTS_PER_PAGE:
            # Nothing follows that would make it fold by itself, and every chart would have to read all of it.
            fold_tail(cursor, run_id, {})
        # Lists show the last step; it is not in the index, which it would make write with every batch.
        cursor.run("UPDATE run SET settled = ?, is_dirty = ? WHERE id = ?", body, int(version != found.version), run_id)
        return True


@dataclass(frozen=True, slots=True)
class _Sum:
    """What a run added up to at one of its versions."""

    version: int
    document: dict[str, Any]
    last_step: int | None


def _add_up(run_id: int, cursor: Cursor) -> _Sum | None:
    row = cursor.one(
        "SELECT run.name, project.entity, run.version FROM run JOIN project ON project.id = run.project_id"
        " WHERE run.id = ? AND run.is_dirty = 1",
        run_id,
    )
    if row is None:
        return None
    name, entity, version = row
    facts = read_facts(cursor, run_id)
    book = read_book(cursor, run_id)
    found = document(
        run=name,
        entity=entity,
        attributes=values(facts.attributes),
        config=values(facts.config),
        summary=summarize(cursor, facts, book),
    )
    return _Sum(version, found, book.last_step)


def _mark_forks(cursor: Cursor, run_id: int, changed_ns: int) -> None:
    """Have the runs that were forked from this one added up again: they have what it logged before."""
    row = cursor.one(
        "SELECT entity, project.name, run.name FROM run JOIN project ON project.id = run.project_id WHERE run.id = ?",
        run_id,
    )
    assert row is not None
    entity, project, name = row
    cursor.run(
        "UPDATE run SET is_dirty = 1, version = version + 1,"
        " changed_ns = CASE WHEN changed_ns < ? THEN ? ELSE changed_ns END"
        " WHERE id <> ? AND (parent = ? OR (parent = ? AND project_id IN (SELECT id FROM project WHERE entity = ?)))",
        changed_ns,
        changed_ns,
        run_id,
        str(RunPath(entity, project, name)),
        str(RunPath(LOCAL_ENTITY, project, name)),
        entity,
    )
