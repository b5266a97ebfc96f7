"""A run on a server: its document, and what is asked for beyond it, each when somebody wants to know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strobe.api.server.document import AlertPage, ConsolePage, Digests, Document, HistoryPage
from strobe.api.server.host import Host, at
from strobe.errors import RunNotFound, UsageError
from strobe.home import Home, RunPath
from strobe.journal import event as ev

if TYPE_CHECKING:
    from strobe.api.files import File
    from strobe.api.rows import Row
    from strobe.api.server.document import Attempt
    from strobe.artifact import Artifact
    from strobe.journal.digest import MetricDigest
    from strobe.journal.frame import Damage

#: values of rows that are asked for at once
_MAX_CELLS = 300_000
_MAX_ROWS = 10_000
_MAX_LINES = 5000
#: a list of keys that is longer than this does not go into an address: all are asked for, and chosen from here
_MAX_KEY_LETTERS = 6000
_CURVES_AT_ONCE = 500
_SPARK_PIXELS = 128


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
        query = {"keys": keys, "attempt": attempt, "last": last, "limit": limit}
        return self._pages(query, first)

    def system_rows(self) -> Iterator[Row]:
        return self._pages({"stream": "system", "limit": 1000}, None)

    def _pages(self, query: Mapping[str, Any], first: int | None) -> Iterator[Row]:
        while True:
            page = self.host.get(f"{self.at}/history", HistoryPage, {**query, "first": first}, missing=RunNotFound)
            yield from page.items
            if page.next is None:
                return
            first = page.next

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


class ServerFacts:
    """What a server's answers say about a run, under the names that a replay of its journals has."""

    def __init__(self, record: ServerRecord) -> None:
        self._record = record

    @property
    def attributes(self) -> Mapping[str, Any]:
        return _Attributes(self._record)

    @property
    def config(self) -> dict[str, Any]:
        found = self._record.document.config
        return self._whole.config or {} if found is None else found

    @property
    def summary(self) -> dict[str, Any]:
        found = self._record.document.summary
        return self._whole.summary or {} if found is None else found

    @property
    def state(self) -> str:
        return self._record.document.state

    @property
    def ended_ns(self) -> int | None:
        return self._record.document.ended_ns

    @property
    def num_rows(self) -> int:
        return self._record.document.num_rows

    @property
    def _whole(self) -> Document:
        return self._record.whole_document

    @property
    def attempts(self) -> Sequence[Attempt]:
        return self._whole.attempts

    @property
    def _last_attempt(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def last_step(self) -> int | None:
        return self._record.document.last_step

    @property
    def rejected(self) -> int:
        return sum(attempt.rejected for attempt in self.attempts)

    @property
    def exit_code(self) -> int | None:
        return self._last_attempt.exit_code if self._last_attempt else None

    @property
    def error(self) -> str | None:
        return self._last_attempt.error if self._last_attempt else None

    @property
    def share(self) -> float | None:
        return self._last_attempt.share if self._last_attempt else None

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """None: what cannot be read of a journal does not get to a server."""
        return []

    @cached_property
    def alerts(self) -> list[ev.Alert]:
        record = self._record
        pages = record.host.pages(f"{record.at}/alerts", AlertPage, {"limit": 1000}, missing=RunNotFound)
        # The server tells the latest first.
        return [alert.event() for page in pages for alert in page.items][::-1]

    @cached_property
    def artifacts(self) -> list[ev.ArtifactUse]:
        return [
            ev.ArtifactUse(
                time_ns=artifact.stored("version").version.created_ns,
                action=action,
                # As the SDK notes them: what a run logs is in its own project.
                name=artifact.collection.name if action == "log" else artifact.collection.qualified_name,
                kind=artifact.type,
                version=artifact.version,
                digest=artifact.digest,
                aliases=artifact.aliases,
            )
            for action, found in (
                ("log", self._record.logged_artifacts()),
                ("use", self._record.used_artifacts()),
            )
            for artifact in found
        ]

    @cached_property
    def metrics(self) -> dict[str, MetricDigest]:
        record = self._record
        found = record.host.get(f"{record.at}/digests", Digests, missing=RunNotFound).digests
        sparks = self._sparks(list(found))
        return {key: digest.digest(self._whole.goal(key), sparks.get(key, [])) for key, digest in found.items()}

    def _sparks(self, keys: list[str]) -> dict[str, list[tuple[float, int]]]:
        """Return (mean, count) of consecutive points of each key."""
        sparks: dict[str, list[tuple[float, int]]] = {}
        for start in range(0, len(keys), _CURVES_AT_ONCE):
            for facts, columns in self._record.host.curves(
                str(self._record.path), keys[start : start + _CURVES_AT_ONCE], pixels=_SPARK_PIXELS
            ):
                means = columns.get("value", columns.get("mean", ()))
                counts = columns.get("count", [1] * len(means))
                points = zip(means, counts, strict=True)
                sparks[facts["key"]] = [(mean, count) for mean, count in points if mean - mean == 0]
        return sparks


class _Attributes(Mapping[str, Any]):
    """Names, notes and tags, which every list has; the rest, which is asked for when somebody wants it."""

    def __init__(self, record: ServerRecord) -> None:
        self._record = record

    def __getitem__(self, key: str) -> Any:
        if key in ("name", "notes", "tags", "group", "job_type", "user"):
            return getattr(self._record.document, key)
        return self._metadata[key]

    @property
    def _metadata(self) -> dict[str, Any]:
        found = self._record.whole_document.metadata
        return found if isinstance(found, dict) else {}

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(("name", "notes", "tags", "group", "job_type", *self._metadata)))

    def __len__(self) -> int:
        return sum(1 for _ in self)
