"""The runs table: an index of every config, summary and attribute value, and the questions that it answers.

    leaf, document   what a run's values are in the index
    writing          keeping it up to date
    filter, pattern, field              wandb's filters, taken apart
    scope, sql, *condition, choice      the same said in SQL
    order, reading, bookmark, listing   pages of runs in the order of any field
    items                               the runs of a page, whole
    grouping, discovery                 groups of runs; which fields there are
    figure, measured                    what metrics came to, as fields

The index can be made again from the runs' documents. Nothing here knows HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strobe.errors import NotInStore
from strobe.store.database import Cursor, Database
from strobe.store.values import discovery, grouping, listing, writing
from strobe.store.values.discovery import FieldFacts, ProjectWith
from strobe.store.values.document import document
from strobe.store.values.grouping import Group, Groups
from strobe.store.values.items import Item, read_items
from strobe.store.values.listing import Page, Question
from strobe.store.values.scope import Scope

__all__ = ["FieldFacts", "Group", "Groups", "Item", "Page", "ProjectWith", "Question", "Values", "document"]


class Values:
    """The index of all runs' values. Writing is part of somebody's transaction, reading is one of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- writing

    def replace(
        self, cursor: Cursor, project_id: int, run_id: int, old: Mapping[str, Any], new: Mapping[str, Any]
    ) -> None:
        """Bring a run's values from `old` to `new`, both made by `document`; `old` is {} for a run that has none."""
        writing.replace(cursor, project_id, run_id, old, new)

    def rebuild(self, cursor: Cursor, project_id: int, run_id: int, new: Mapping[str, Any]) -> None:
        """Write all of a run's values anew, whatever was there."""
        writing.remove(cursor, run_id)
        writing.replace(cursor, project_id, run_id, {}, new)

    # --- reading

    def items(self, run_ids: Sequence[int]) -> list[Item]:
        """Return the runs of a page with what a table shows of them."""
        return self._database.read(lambda cursor: read_items(cursor, run_ids))

    def page(
        self,
        entity: str,
        project: str,
        question: Question,
        *,
        now_ns: int,
        limit: int = 50,
        after: str | None = None,
        count: bool = False,
    ) -> Page:
        """Return a page of runs, those after the cursor `after`; with `count`, how many all pages have."""
        return self._database.read(
            lambda cursor: listing.read_page(
                _scope(cursor, entity, project, now_ns), question, limit=limit, after=after, count=count
            )
        )

    def groups(
        self,
        entity: str,
        project: str,
        question: Question,
        *,
        by: Sequence[str],
        metrics: Sequence[str] = (),
        now_ns: int,
        limit: int = 100,
        after: str | None = None,
    ) -> Groups:
        """Return groups of runs that have the same values at the fields `by`, with statistics of `metrics`."""
        return self._database.read(
            lambda cursor: grouping.read_groups(
                _scope(cursor, entity, project, now_ns), question, by=by, metrics=metrics, limit=limit, after=after
            )
        )

    def fields(
        self, entity: str, project: str, *, prefix: str = "", contains: str = "", limit: int = 100, after: str = ""
    ) -> list[FieldFacts]:
        """Return the fields that runs of a project have, by name, with what is needed to complete a filter."""
        return self._database.read(
            lambda cursor: discovery.read_fields(
                cursor, _project_id(cursor, entity, project), prefix=prefix, contains=contains, limit=limit, after=after
            )
        )

    def texts(self, entity: str, project: str, field: str, *, prefix: str = "", limit: int = 20) -> list[str]:
        """Return different texts that runs have at a field, in order: what a filter's value can be completed to."""
        return self._database.read(
            lambda cursor: discovery.read_texts(_scope(cursor, entity, project, 0), field, prefix=prefix, limit=limit)
        )

    def projects_with(self, field: str, text: str) -> list[ProjectWith]:
        """Return the projects, of everybody, that have runs with a text at a field such as `job_type`."""
        return self._database.read(lambda cursor: discovery.read_projects_with(cursor, field, text))


def _scope(cursor: Cursor, entity: str, project: str, now_ns: int) -> Scope:
    return Scope(cursor, _project_id(cursor, entity, project), entity, project, now_ns)


def _project_id(cursor: Cursor, entity: str, project: str) -> int:
    row = cursor.one("SELECT id FROM project WHERE entity = ? AND name = ?", entity, project)
    if row is None:
        raise NotInStore(f"there is no project {entity}/{project}")
    return int(row[0])
