"""The runs that a question is about: a condition on each, and indexes that may find them quicker than trying all."""

from __future__ import annotations

from dataclasses import dataclass

from strobe.store.database import Row
from strobe.store.values.scope import Scope
from strobe.store.values.sql import Sql

#: runs that an index may leave to be fetched all; reading one costs as much as stepping over several
MOST = 20_000
#: conditions whose indexes are asked how many runs they leave
_PROBES = 8
_NOTHING = Sql("")


@dataclass(frozen=True, slots=True)
class Rows:
    """Where runs `r` are found, and which."""

    source: Sql
    where: Sql

    def read(self, scope: Scope, columns: Sql, joins: Sql = _NOTHING) -> list[Row]:
        """Return these columns of all of them."""
        sql = Sql("SELECT ") + columns + " FROM " + self.source + joins + " WHERE " + self.where
        return scope.cursor.all(sql.text, *sql.parameters)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A condition on `r`, and SELECTs of a `run_id`, each of which has all runs that are meant among others."""

    condition: Sql
    drivers: list[Sql]

    def rows(self, scope: Scope) -> Rows:
        """Return the runs by the quickest way to all of them."""
        return self.few(scope, MOST) or Rows(Sql("run r"), self.condition)

    def few(self, scope: Scope, most: int) -> Rows | None:
        """Return the runs by the index that leaves the fewest; None if each leaves more than `most`."""
        best, fewest = None, most + 1
        for driver in self.drivers[:_PROBES]:
            sql = Sql("SELECT count(*) FROM (") + driver + Sql(" LIMIT ?) AS found", (fewest,))
            row = scope.cursor.one(sql.text, *sql.parameters)
            assert row is not None
            if row[0] < fewest:
                best, fewest = driver, row[0]
        if best is None:
            return None
        # A run is in the list once for each of its values that fit.
        source = Sql("(SELECT DISTINCT run_id FROM (") + best + ") AS named) AS few" + _each(scope, "few.run_id")
        return Rows(source, Sql("r.id = few.run_id AND ") + self.condition)

    def among(self, scope: Scope, run_ids: list[int]) -> set[int]:
        """Return those of these runs that are meant."""
        if scope.dialect.name == "sqlite":
            listed = Sql("json_each(?) AS listed", (str(run_ids),))
        else:
            listed = Sql("unnest(CAST(? AS BIGINT[])) AS listed (value)", (run_ids,))
        rows = Rows(listed + _each(scope, "listed.value"), Sql("r.id = listed.value AND ") + self.condition)
        return {row[0] for row in rows.read(scope, Sql("r.id"))}


def _each(scope: Scope, run_id: str) -> str:
    """Return the join that looks up each run by its number, told in a way that leaves the database no other."""
    if scope.dialect.name == "sqlite":
        return " CROSS JOIN run r"
    return f" CROSS JOIN LATERAL (SELECT * FROM run WHERE run.id = {run_id} OFFSET 0) AS r"
