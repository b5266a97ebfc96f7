"""Which figures of metrics the index of a project holds.

Every run has many metrics, and few of their figures are ever asked for. So the index holds a figure from the first time
that somebody sorts, filters or groups by it: its path is made then, and whoever adds up a run adds up the figures whose
paths its project has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from strobe.errors import UsageError
from strobe.store.database import Cursor
from strobe.store.values import filter as tree
from strobe.store.values.field import Field, Indexed, find_field
from strobe.store.values.figure import SECTION, Figure, parse_figure
from strobe.store.values.leaf import original
from strobe.store.values.listing import Question
from strobe.store.values.order import parse_sort
from strobe.store.values.writing import intern

#: different figures that a project's index holds at most
MAX_FIGURES = 100
_AFTER = f"{SECTION}/"  # what follows all names that begin with "figures."


def figures_asked(question: Question, fields: Sequence[str] = ()) -> list[Figure]:
    """Return the figures that a question is about, and those among further fields."""
    found = [parse_sort(question.sort).field, *map(find_field, fields), *(like.field for like in question.within)]
    return [*_figures_of(found), *_figures_in(tree.parse_filter(question.filters))]


def _figures_in(node: tree.Node) -> Iterator[Figure]:
    if isinstance(node, (tree.All, tree.AnyOf)):
        for part in node.parts:
            yield from _figures_in(part)
    elif isinstance(node, tree.Not):
        yield from _figures_in(node.part)
    else:
        yield from _figures_of([node.field])


def _figures_of(fields: Iterable[Field]) -> Iterator[Figure]:
    for field in fields:
        if isinstance(field, Indexed) and (figure := _figure_at(field.path)) is not None:
            yield figure


def _figure_at(path: str) -> Figure | None:
    section, _, name = original(path).partition(".")
    return parse_figure(name) if section == SECTION else None


def read_figures(cursor: Cursor, project_id: int) -> list[Figure]:
    """Return the figures that the index of a project holds."""
    sql = "SELECT name FROM path WHERE project_id = ? AND name >= ? AND name < ? ORDER BY name"
    names = cursor.all(sql, project_id, f"{SECTION}.", _AFTER)
    return [figure for (name,) in names if (figure := _figure_at(name)) is not None]


def add_figures(cursor: Cursor, project_id: int, wanted: Iterable[Figure]) -> bool:
    """Have the index of a project hold these from now on, as far as its runs have the keys; tell if any is new."""
    known = read_figures(cursor, project_id)
    new = missing_figures(cursor, project_id, wanted)
    if len(known) + len(new) > MAX_FIGURES:
        raise UsageError(
            f"the runs of this project are ordered by {len(known)} figures of metrics already, and {MAX_FIGURES} are"
            f" the most; use one of those, such as {known[0]}, or the summary"
        )
    for figure in sorted(new):
        intern(cursor, project_id, figure.path)
    return bool(new)


def missing_figures(cursor: Cursor, project_id: int, wanted: Iterable[Figure]) -> list[Figure]:
    """Return those that the index could hold and does not: some run has the key."""
    known = read_figures(cursor, project_id)
    new = [figure for figure in dict.fromkeys(wanted) if figure not in known]
    return [figure for figure in new if _has_key(cursor, project_id, figure.key)]


def _has_key(cursor: Cursor, project_id: int, key: str) -> bool:
    sql = (
        "SELECT 1 FROM run WHERE project_id = ? AND EXISTS (SELECT 1 FROM series WHERE series.run_id = run.id"
        " AND series.lane = '' AND series.key = ? AND series.has_points = 1) LIMIT 1"
    )
    return cursor.one(sql, project_id, key) is not None
