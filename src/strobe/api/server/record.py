"""A run on a server: its document, and what is asked for beyond it, each when somebody wants to know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strobe.api.server.document import ConsolePage, Document, HistoryPage
from strobe.api.server.facts import ServerFacts
from strobe.api.server.host import Host, at
from strobe.errors import RunNotFound, UsageError
from strobe.home import Home, RunPath
from strobe.journal import event as ev

if TYPE_CHECKING:
    from strobe.api.files import File
    from strobe.api.rows import Row
    from strobe.artifact import Artifact

#: values of rows that are asked for at once
_MAX_CELLS = 300_000
_MAX_ROWS = 10_000
_MAX_LINES = 5000
#: a list of keys that is longer than this does not go into an address: all are asked for, and chosen from here
_MAX_KEY_LETTERS = 6000


class ServerRecord:
    """A run that a server keeps."""

    run_dir = None

    def __init__(self, host: Host, home: Home, document: Document) -> None:
        self.host = host
        #: contents of artifacts are kept here once they were fetched
        self.home = home
        self.path: RunPath = document.path
        self._document: Document | None = document

    @property
    def at(self) -> str:
        return at("runs", self.path.entity, self.path.project, self.path.id)

    @property
    def url(self) -> str:
        return self.host.url + at(self.path.entity, self.path.project, "runs", self.path.id)

    @property
    def document(self) -> Document:
        """What is known of the run: perhaps only what a list said."""
        if self._document is None:
            self._document = self.host.get(self.at, Document, missing=RunNotFound)
        return self._document

    @property
    def whole_document(self) -> Document:
        if not self.document.is_whole:
            self._document = None
        return self.document

    @property
    def created_ns(self) -> int:
        return self.document.created_ns

    @property
    def facts(self) -> ServerFacts:
        return self._facts

    whole = facts

    @cached_property
    def _facts(self) -> ServerFacts:
        return ServerFacts(self)

    def refresh(self) -> None:
        self._document = None
        vars(self).pop("_facts", None)

    # --- what it logged

    def rows(
        self,
        keys: Sequence[str] | None,
        *,
        attempt: int | None = None,
        first: int | None = None,
        last: int | None = None,
        page_size: int = 1000,
    ) -> Iterator[Row]:
        if keys is not None and sum(map(len, keys)) > _MAX_KEY_LETTERS:
            keys = None
        num_keys = len(self.whole_document.keys if keys is None else keys)
        limit = max(1, min(page_size, _MAX_ROWS, _MAX_CELLS // max(1, num_keys)))
        query = {"keys": keys, "attempt": attempt, "first": first, "last": last, "limit": limit}
        return self._history(query)

    def system_rows(self) -> Iterator[Row]:
        return self._history({"stream": "system", "limit": 1000})

    def _history(self, query: Mapping[str, Any]) -> Iterator[Row]:
        for page in self.host.pages(f"{self.at}/history", HistoryPage, query, missing=RunNotFound):
            yield from page.items

    def console(self, *, raw: bool, styles: bool) -> str:
        if raw:
            raise UsageError("a server keeps the console as it stood on the screen; raw=True works in a home only")
        lines: list[str] = []
        start: str | None = "0"
        while start is not None:
            query = {"start": start, "limit": _MAX_LINES, "styles": styles}
            page = self.host.get(f"{self.at}/console", ConsolePage, query, missing=RunNotFound)
            lines += [f"{line.text}\n" for line in page.items]
            start = page.cursor
        return "".join(lines)

    # --- changing

    def write(self, events: Sequence[ev.Event]) -> None:
        edit: dict[str, Any] = {}
        for event in events:
            if isinstance(event, ev.Attributes):
                edit |= event.changes
            elif isinstance(event, ev.Config):
                edit |= {"config": event.changes, "config_removed": event.removed}
            elif isinstance(event, ev.Summary):
                edit |= {"summary": event.changes, "summary_removed": event.removed}
            else:
                raise UsageError(f"a server cannot be told of {type(event).__name__} after the fact")
        self.host.send("PATCH", self.at, edit, missing=RunNotFound)

    def delete(self) -> None:
        self.host.send("DELETE", self.at, missing=RunNotFound)

    def restore(self) -> None:
        self.host.send("POST", f"{self.at}/restore", missing=RunNotFound)
        self.refresh()

    def stop(self) -> None:
        self.host.send("POST", f"{self.at}/stop", missing=RunNotFound)

    # --- files and artifacts

    def files(self, names: Sequence[str] | None = None) -> Iterable[File]:
        from strobe.api.server.files import list_files

        return list_files(self.host, self.at, names)

    def file(self, name: str) -> File:
        from strobe.api.server.files import file_of

        return file_of(self.host, self.at, name)

    def add_file(self, source: Path, name: str) -> File:
        from strobe.api.server.files import send_file

        return send_file(self.host, self.at, source, name)

    def logged_artifacts(self) -> list[Artifact]:
        return self._artifacts("logged")

    def used_artifacts(self) -> list[Artifact]:
        return self._artifacts("used")

    def _artifacts(self, role: str) -> list[Artifact]:
        from strobe.api.server.artifacts import ServerArtifacts

        return ServerArtifacts(self.host, self.home).of_run(self.at, role)
