"""What endpoints ask of the runs table, as query parameters: one reading of them for lists, groups and exports."""

from __future__ import annotations

import json
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from strobe.errors import UsageError
from strobe.server.fields import Name
from strobe.store.values import Question
from strobe.store.values.grouping import within
from strobe.store.values.listing import DEFAULT_SORT, Deleted

FieldName = Annotated[str, Meta(min_length=1, max_length=4000)]
Cursor = Annotated[str, Meta(max_length=4000)]


class ProjectPlace(msgspec.Struct, kw_only=True):
    """A project, by its path."""

    entity: Name
    project: Name


class RunsQuery(msgspec.Struct, kw_only=True):
    """Which runs."""

    #: JSON in wandb's (MongoDB's) language: {"config.lr": {"$lt": 0.1}}. NaN and Infinity may stand for themselves.
    filter: str = ""
    #: whether deleted runs are among them
    deleted: Deleted = "without"
    #: a group of the answer of /groups: the fields that it was made by, and its key
    group: list[FieldName] = []
    group_key: str = ""

    def question(self, sort: str = DEFAULT_SORT) -> Question:
        """Return the question for the store."""
        if bool(self.group) != bool(self.group_key):
            raise UsageError("group and group_key belong together: the fields of a grouping, and the key of one group")
        return Question(
            filters=read_filter(self.filter),
            within=within(self.group, self.group_key) if self.group else (),
            sort=sort,
            deleted=self.deleted,
        )


class SortedRunsQuery(RunsQuery, kw_only=True):
    """Which runs, in which order."""

    #: a field, with - before it for the greatest first
    sort: FieldName = DEFAULT_SORT


def read_filter(text: str) -> dict[str, Any] | None:
    """Return the filter that a parameter holds."""
    if not text:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the filter is not JSON ({error}): {text[:80]!r}") from error
    if not isinstance(found, dict):
        raise UsageError(f'a filter is a JSON object such as {{"state": "finished"}}, got {text[:80]!r}')
    return found
