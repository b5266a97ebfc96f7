"""Settling: bringing the summary of runs, and the index of their values, up to what was taken in.

Taking in a batch only marks its run. A moment later, or when the run ends, what it adds up to is computed once for all
batches in between, and only what differs is written. A server does this all the time; whoever asks for the index right
after sending something calls `settle` first.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from strobe.errors import Error, StoreError
from strobe.journal import value
from strobe.store.artifacts import mentions
from strobe.store.database import Cursor, Database
from strobe.store.ingest import read_facts
from strobe.store.lines import read_book
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

    def settle(self, *, limit: int = 1000) -> int:
        """Bring up to `limit` runs up to date; return how many were. One that cannot be does not keep the others."""
        found = self._database.read(
            lambda cursor: cursor.all("SELECT id FROM run WHERE is_dirty = 1 ORDER BY id LIMIT ?", limit)
        )
        # One transaction each: nobody who sends waits for more than one run.
        count, faults = 0, []
        for (run_id,) in found:
            try:
                count += self._database.write(partial(self._settle, run_id))
            except (Error, ValueError, TypeError, LookupError) as error:
                faults.append((run_id, error))
        if faults:
            numbers = ", ".join(str(run_id) for run_id, _ in faults)
            raise StoreError(f"runs {numbers} could not be settled: {faults[0][1]}") from faults[0][1]
        return count

    def _settle(self, run_id: int, cursor: Cursor) -> bool:
        row = cursor.one(
            "SELECT name, project_id, settled, state, tail_rows FROM run WHERE id = ? AND is_dirty = 1"
            f"{cursor.dialect.for_update}",
            run_id,
        )
        if row is None:  # another server was quicker
            return False
        name, project_id, settled, state, tail_rows = row
        if state != "running" and tail_rows >= POINTS_PER_PAGE:
            # Nothing follows that would make it fold by itself, and every chart would have to read all of it.
            fold_tail(cursor, run_id, {})
        project = cursor.one("SELECT entity FROM project WHERE id = ?", project_id)
        assert project is not None
        facts = read_facts(cursor, run_id)
        book = read_book(cursor, run_id)
        new = document(
            run=name,
            entity=project[0],
            attributes=values(facts.attributes),
            config=values(facts.config),
            summary=summarize(cursor, facts, book),
        )
        old: dict[str, Any] = value.decode(settled) if settled else {}
        old.pop("last_step", None)
        self._index.replace(cursor, project_id, run_id, old, new)
        # Lists show the last step; it is not in the index, which it would make write with every batch.
        new["last_step"] = book.last_step
        mentions.link_run(cursor, run_id)
        cursor.run("UPDATE run SET settled = ?, is_dirty = 0 WHERE id = ?", value.encode_decoded(new), run_id)
        return True
