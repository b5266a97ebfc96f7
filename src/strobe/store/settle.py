"""Settling: bringing the summary of runs, and the index of their values, up to what was taken in.

Taking in a batch only marks its run. A moment later, or when the run ends, what it adds up to is computed once for all
batches in between, and only what differs is written. A server does this all the time; whoever asks for the index right
after sending something calls `settle` first.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from strobe.errors import Error, NotInStore, StoreError
from strobe.home import LOCAL_ENTITY, RunPath
from strobe.journal import value
from strobe.store.artifacts import mentions
from strobe.store.charts import charted_keys
from strobe.store.database import Cursor, Database
from strobe.store.lines import RunBook, read_book
from strobe.store.pages import Pages
from strobe.store.purge import DOOMED
from strobe.store.run_facts import read_facts
from strobe.store.series import digest
from strobe.store.series.page import POINTS_PER_PAGE
from strobe.store.state import values
from strobe.store.summary import summarize
from strobe.store.tail import fold_tail
from strobe.store.values import Values, document
from strobe.store.values.figure import Figure
from strobe.store.values.measured import add_figures, missing_figures, read_figures

#: how long somebody who asks for a new figure waits for all runs to have it
_PATIENCE_S = 5.0


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

    def measure(self, entity: str, project: str, figures: Sequence[Figure], *, patience_s: float = _PATIENCE_S) -> int:
        """Have the index hold figures of metrics from now on; return how many runs that are over still lack them.

        The first time that somebody asks for one, all runs of the project are added up again. What takes longer than
        the caller's patience is left to the next turns of `settle`.
        """
        if not figures:
            return 0
        project_id = self._database.read(partial(_project_id, entity, project))
        if self._database.read(lambda cursor: missing_figures(cursor, project_id, figures)):
            self._database.write(partial(_begin, project_id, figures))
            sql = "SELECT id FROM run WHERE project_id = ? AND is_dirty = 1 ORDER BY id"
            until = time.monotonic() + patience_s
            for (run_id,) in self._database.read(lambda cursor: cursor.all(sql, project_id)):
                if time.monotonic() > until:
                    break
                try:
                    self._settle(run_id)
                except (Error, ValueError, TypeError, LookupError):
                    continue  # `settle` comes to it, and says so
        return self._database.read(partial(_count_pending, project_id))

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
        "SELECT run.name, project.entity, run.version, project.id FROM run JOIN project ON project.id = run.project_id"
        " WHERE run.id = ? AND run.is_dirty = 1",
        run_id,
    )
    if row is None:
        return None
    name, entity, version, project_id = row
    facts = read_facts(cursor, run_id)
    book = read_book(cursor, run_id)
    found = document(
        run=name,
        entity=entity,
        attributes=values(facts.attributes),
        config=values(facts.config),
        summary=summarize(cursor, facts, book),
        figures=_figures(cursor, project_id, book),
    )
    return _Sum(version, found, book.last_step)


def _figures(cursor: Cursor, project_id: int, book: RunBook) -> dict[str, float]:
    wanted = read_figures(cursor, project_id)
    keys = charted_keys(book, {figure.key for figure in wanted})
    found = digest(Pages(cursor), [book.line(key) for key in keys]) if keys else []
    buckets = {key: bucket for key, bucket in zip(keys, found, strict=True) if len(bucket)}
    figures = {str(figure): figure.of(buckets[figure.key]) for figure in wanted if figure.key in buckets}
    return {name: number for name, number in figures.items() if number is not None}


def _project_id(entity: str, project: str, cursor: Cursor) -> int:
    row = cursor.one("SELECT id FROM project WHERE entity = ? AND name = ?", entity, project)
    if row is None:
        raise NotInStore(f"there is no project {entity}/{project}")
    return int(row[0])


def _begin(project_id: int, figures: Sequence[Figure], cursor: Cursor) -> None:
    """Note that the index holds these, and have all runs added up again."""
    if add_figures(cursor, project_id, figures):
        # With another version, so that whoever is adding one up without them does not call it done.
        cursor.run(
            "UPDATE run SET is_dirty = 1, version = version + 1"
            " WHERE project_id = ? AND (deleted_ns IS NULL OR deleted_ns > ?)",
            project_id,
            DOOMED,
        )


def _count_pending(project_id: int, cursor: Cursor) -> int:
    """Return how many runs wait to be added up; one that is running always does, a little."""
    row = cursor.one(
        "SELECT count(*) FROM run WHERE project_id = ? AND is_dirty = 1 AND state <> 'running' AND deleted_ns IS NULL",
        project_id,
    )
    assert row is not None
    return int(row[0])


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
