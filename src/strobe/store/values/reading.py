"""Reading runs in order: by walking along an index and trying each run, or by fetching few and sorting them.

Walking is quick when many of the runs that are met pass; then it costs what the page has, not what the project has. It
is given up when too few pass and an index of the filter leaves few runs to fetch. Both give the same list, so a
bookmark that one of them made is good for the other. Runs are tried in portions, so that neither database can think of
a cleverer plan.
"""

from __future__ import annotations

from collections.abc import Iterator

from strobe.store.values.bookmark import Bookmark
from strobe.store.values.choice import MOST, Chosen, Rows
from strobe.store.values.field import Column
from strobe.store.values.leaf import Kind
from strobe.store.values.order import COLUMN, MISSING, Key, Phase, Place, Sort, phases, phases_from
from strobe.store.values.scope import Scope
from strobe.store.values.sql import Sql

#: runs that are fetched and sorted without trying to walk
FEW = 100
#: runs that are met on a walk before it is given up
PATIENCE = 1000
_PORTION, _MAX_PORTION = 128, 4096
#: where no index has the order, each portion costs as much as all of them
_UNORDERED_PORTION = 20_000


def read_places(scope: Scope, chosen: Chosen, sort: Sort, start: Bookmark | None, limit: int) -> list[Place]:
    """Return up to `limit` places behind the bookmark."""
    found = phases(scope, sort)
    if start is not None:
        found = phases_from(found, start)
    few = chosen.few(scope, FEW)
    if few is not None:
        return _sorted(_fetch(scope, few, sort), found, sort, start)[:limit]
    places: list[Place] = []
    num_met, is_patient = 0, not chosen.drivers
    for met, passed in _walk(scope, chosen, found, sort, start):
        places += passed
        num_met += met
        if len(places) >= limit:
            break
        if num_met >= PATIENCE and not is_patient:
            few = chosen.few(scope, MOST)
            if few is not None:
                return _sorted(_fetch(scope, few, sort), found, sort, start)[:limit]
            is_patient = True
    return places[:limit]


def _walk(
    scope: Scope, chosen: Chosen, found: list[Phase], sort: Sort, start: Bookmark | None
) -> Iterator[tuple[int, list[Place]]]:
    """Yield how many runs were met and which of them passed, portion by portion."""
    portion = _PORTION
    for phase in found:
        last = (start.key, start.run_id) if start is not None and start.phase == phase.number else None
        is_there_more = True
        while is_there_more:
            at_once = portion if phase.is_indexed else _UNORDERED_PORTION
            met = _step(scope, phase, sort, last, at_once)
            is_there_more = len(met) == at_once
            while met:
                tried, met = met[:portion], met[portion:]
                passed = chosen.among(scope, [place.run_id for place in tried])
                yield len(tried), [place for place in tried if place.run_id in passed]
                last = (tried[-1].key, tried[-1].run_id)
                portion = min(2 * portion, _MAX_PORTION)


def _step(scope: Scope, phase: Phase, sort: Sort, last: tuple[Key, int] | None, limit: int) -> list[Place]:
    sign, turn = ("<", " DESC") if sort.is_descending else (">", "")
    behind = Sql("1 = 1")
    if last is not None:
        key = float(last[0]) if phase.kind == "number" else last[0]
        behind = Sql("(") + phase.key + Sql(f", {phase.run_id}) {sign} (?, ?)", (key, last[1]))
    sql = Sql("SELECT ") + phase.key + f", {phase.run_id} FROM " + phase.rows + behind + " ORDER BY " + phase.key
    sql += Sql(f"{turn}, {phase.run_id}{turn} LIMIT ?", (limit,))
    return [Place(phase.number, row[0], row[1]) for row in scope.cursor.all(sql.text, *sql.parameters)]


def _sorted(places: list[Place], found: list[Phase], sort: Sort, start: Bookmark | None) -> list[Place]:
    by_phase: dict[int, list[Place]] = {phase.number: [] for phase in found}
    for place in places:
        if place.phase in by_phase:  # else it lies before the bookmark
            by_phase[place.phase].append(place)
    if start is not None:
        last = (start.key, start.run_id)
        by_phase[start.phase] = [
            place for place in by_phase[start.phase] if (place[1:] < last if sort.is_descending else place[1:] > last)
        ]
    return [place for some in by_phase.values() for place in sorted(some, reverse=sort.is_descending)]


def _fetch(scope: Scope, rows: Rows, sort: Sort) -> list[Place]:
    if isinstance(sort.field, Column):
        found = rows.read(scope, Sql("r.id, r.created_ns, ") + scope.column(sort.field))
        return [Place(MISSING, row[1], row[0]) if row[2] is None else Place(COLUMN, row[2], row[0]) for row in found]
    joins = Sql(" LEFT JOIN value s ON s.run_id = r.id AND s.path_id = ? AND s.place = 0", (scope.path_id(sort.field),))
    found = rows.read(scope, Sql("r.id, r.created_ns, s.kind, s.number, s.text"), joins)
    return [_placed(*row) for row in found]


def _placed(run_id: int, created_ns: int, kind: int | None, number: float, text: str) -> Place:
    if kind in (Kind.NUMBER, Kind.BOOL):
        return Place(kind, number, run_id)
    if kind == Kind.TEXT:
        return Place(kind, text, run_id)
    return Place(kind, run_id, run_id) if kind == Kind.NAN else Place(MISSING, created_ns, run_id)
