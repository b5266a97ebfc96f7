"""A server as a source: runs come in pages, in the order and by the filter that the server works out itself.

Where a path leaves out the entity, it is the key's own.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec

from strobe.api.field import place
from strobe.api.run import Run
from strobe.api.server.artifacts import ServerArtifacts
from strobe.api.server.document import Document, Identity, ProjectPage, RunPage
from strobe.api.server.host import Host, at
from strobe.api.server.record import ServerRecord
from strobe.errors import RunNotFound, UsageError
from strobe.home import LOCAL_ENTITY, Home, RunPath
from strobe.remote.link import Link
from strobe.remote.target import target_of, with_key
from strobe.settings import Resolved

_MAX_PAGE = 1000
#: the manifest of an artifact of a million files
_LONGEST_ANSWER = 512 << 20
#: how many runs are looked through for names that are near to one that there is not
_MAX_HINTS = 200


class ServerListing:
    """Runs of some projects, asked for page by page."""

    def __init__(
        self, source: ServerSource, projects: list[tuple[str, str]], filters: str | None, order: str, per_page: int
    ) -> None:
        self._source = source
        self._projects = projects
        self._order = order
        self._query = {"filter": filters, "sort": order.removeprefix("+")}
        self._per_page = min(per_page, _MAX_PAGE)

    def __iter__(self) -> Iterator[ServerRecord]:
        listed = [self._of(*project) for project in self._projects]
        if len(listed) == 1:
            return listed[0]
        return heapq.merge(*listed, key=lambda record: place(Run(record), self._order))

    def _of(self, entity: str, project: str) -> Iterator[ServerRecord]:
        path = at("projects", entity, project, "runs")
        query = {**self._query, "limit": self._per_page}
        for page in self._source.host.pages(path, RunPage, query, missing=RunNotFound):
            for document in page.items:
                yield self._source.show(document)

    def count(self) -> int:
        query = {**self._query, "limit": 1, "count": True}
        pages = (
            self._source.host.get(at("projects", *project, "runs"), RunPage, query, missing=RunNotFound)
            for project in self._projects
        )
        return sum(page.total or 0 for page in pages)


class ServerSource:
    """A server, for reading, with one key."""

    def __init__(self, host: Host, home: Home) -> None:
        self.host = host
        self._home = home
        self.artifacts = ServerArtifacts(host, home)

    @classmethod
    def of(cls, settings: Resolved, *, timeout_s: float | None = None) -> ServerSource:
        """Return the server that the settings name."""
        target = target_of(settings)
        assert target is not None, "who asks for a server has named one"
        target = msgspec.structs.replace(with_key(target), bytes_per_s=0)
        if timeout_s is not None:
            target = msgspec.structs.replace(target, timeout_s=float(timeout_s))
        return cls(Host(Link(target, longest_answer=_LONGEST_ANSWER)), Home(settings.home))

    @property
    def place(self) -> str:
        return self.host.url

    @property
    def list_command(self) -> str:
        return f"strobe run ls --host {self.host.url}"

    @property
    def fill_command(self) -> str:
        return f"strobe sync --all --host {self.host.url}"

    @cached_property
    def _identity(self) -> Identity:
        return self.host.get("/server", Identity)

    @property
    def default_entity(self) -> str:
        return self._identity.entity or LOCAL_ENTITY

    @property
    def user(self) -> str:
        return self._identity.user or self.default_entity

    # --- runs

    def show(self, document: Document) -> ServerRecord:
        return ServerRecord(self.host, self._home, document)

    def runs(
        self,
        entity: str | None,
        project: str | None,
        *,
        filters: Mapping[str, Any] | None,
        order: str,
        per_page: int,
    ) -> ServerListing:
        if filters is not None and not isinstance(filters, Mapping):
            raise UsageError(f"filters must be a dict such as {{'state': 'finished'}}, got {filters!r}")
        try:
            text = json.dumps(filters) if filters else None
        except (TypeError, ValueError) as error:
            raise UsageError(f"a server cannot be asked for {filters!r}: {error}") from error
        return ServerListing(self, self._projects(entity, project), text, order, per_page)

    def _projects(self, entity: str | None, project: str | None) -> list[tuple[str, str]]:
        entity = entity or self.default_entity
        return self.projects(entity) if project is None else [(entity, project)]

    def candidates(self, text: str, entity: str | None, project: str | None) -> list[ServerRecord]:
        if project and (exact := self.record(RunPath(entity or self.default_entity, project, text))) is not None:
            return [exact]
        ends = [{"id": {"$regex": f"^{re.escape(text)}"}}, {"id": {"$regex": f"{re.escape(text)}$"}}]
        named = {"$or": [*ends, {"display_name": text}]}
        found = list(self.runs(entity, project, filters=named, order="-created_at", per_page=_MAX_HINTS))
        if found:
            return found
        newest = iter(self.runs(entity, project, filters=None, order="-created_at", per_page=_MAX_HINTS))
        return [record for _, record in zip(range(_MAX_HINTS), newest, strict=False)]

    def record(self, path: RunPath) -> ServerRecord | None:
        document = self.host.find(at("runs", path.entity, path.project, path.id), Document)
        return None if document is None else self.show(document)

    def restore(self, reference: str) -> ServerRecord:
        path = RunPath.parse(reference, entity=self.default_entity)
        address = at("runs", path.entity, path.project, path.id, "restore")
        return self.show(self.host.send("POST", address, kind=Document, missing=RunNotFound))

    # --- projects

    def projects(self, entity: str | None) -> list[tuple[str, str]]:
        query = {"entity": entity or self.default_entity, "limit": _MAX_PAGE}
        pages = self.host.pages("/projects", ProjectPage, query)
        return [(project.entity, project.name) for page in pages for project in page.items]

    def create_project(self, entity: str, name: str) -> None:
        if self.host.find(at("projects", entity, name), Identity) is None:
            self.host.send("POST", "/projects", {"entity": entity, "name": name})

    def project_url(self, entity: str, name: str) -> str:
        return self.host.url + at(entity, name)
