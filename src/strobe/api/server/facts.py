"""What a server's answers say about a run, under the names that a replay of its journals has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from strobe.api.server.document import AlertPage, Attempt, Digests, Document
from strobe.errors import RunNotFound
from strobe.journal import event as ev

if TYPE_CHECKING:
    from strobe.api.server.record import ServerRecord
    from strobe.journal.digest import MetricDigest
    from strobe.journal.frame import Damage

_CURVES_AT_ONCE = 500
_SPARK_PIXELS = 128


class ServerFacts:
    """Everything but rows: from the run's document, and by further questions when somebody wants to know."""

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
