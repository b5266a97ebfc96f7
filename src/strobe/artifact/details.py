"""Who an artifact is: names, version, aliases, metadata. Drafts have some of it, logged ones all.

What a person may change (aliases, tags, metadata, description, ttl) is changed here in memory; `save()` writes it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from typing import Any

from strobe.artifact import record
from strobe.artifact.collection import Collection
from strobe.artifact.contents import Contents
from strobe.artifact.name import LATEST, check_alias, check_artifact_name, check_tag, check_type
from strobe.artifact.record import Version
from strobe.errors import ArtifactNotLogged, UsageError


class ArtifactTTL(enum.Enum):
    """`artifact.ttl = ArtifactTTL.INHERIT`: no time to live of its own."""

    INHERIT = 0


class Stored:
    """Where a logged artifact is: a version of a collection."""

    def __init__(self, collection: Collection, version: Version) -> None:
        self.collection = collection
        self.version = version


class Details(Contents):
    """The attributes of an artifact."""

    def __init__(
        self, name: str, kind: str, description: str | None, metadata: dict[str, Any] | None, algorithm: str
    ) -> None:
        super().__init__(algorithm)
        self._name = check_artifact_name(name)
        self._type = check_type(kind)
        self._stored: Stored | None = None
        self._ttl: timedelta | None = None
        self._aliases: list[str] | None = []
        self._saved_aliases: frozenset[str] = frozenset()
        self._tags: list[str] = []
        self.description = description
        self.metadata = metadata
        self.use_as: str | None = None
        self.distributed_id: str | None = None

    def stored(self, what: str) -> Stored:
        """Return where the artifact is, or raise ArtifactNotLogged for the attribute `what`."""
        if self._stored is None:
            raise ArtifactNotLogged(
                f"artifact {self._name!r} has no {what} before it's logged; log it, and wait() if it's large"
            )
        return self._stored

    def is_draft(self) -> bool:
        """Tell whether the artifact has no version yet."""
        return self._stored is None

    # --- names

    @property
    def id(self) -> str | None:
        return self._stored.version.id if self._stored is not None else None

    @property
    def name(self) -> str:
        """`dataset` for a draft, `dataset:v3` for a logged artifact."""
        return self._name if self._stored is None else f"{self._name}:{self.version}"

    @property
    def type(self) -> str:
        return self._type

    @property
    def version(self) -> str:
        return f"v{self.stored('version').version.number}"

    @property
    def entity(self) -> str:
        return self.stored("entity").collection.entity

    @property
    def project(self) -> str:
        return self.stored("project").collection.project

    @property
    def qualified_name(self) -> str:
        """`entity/project/name:v3`."""
        return f"{self.entity}/{self.project}/{self.name}"

    @property
    def collection(self) -> Collection:
        """All versions of this name."""
        return self.stored("collection").collection

    # --- where a linked artifact comes from: its own names if it's no link

    @property
    def is_link(self) -> bool:
        return self._stored is not None and self._stored.version.source is not None

    @property
    def source_qualified_name(self) -> str:
        return self.stored("source").version.source or self.qualified_name

    @property
    def source_entity(self) -> str:
        return self.source_qualified_name.split("/")[0]

    @property
    def source_project(self) -> str:
        return self.source_qualified_name.split("/")[1]

    @property
    def source_name(self) -> str:
        return self.source_qualified_name.split("/")[2]

    @property
    def source_version(self) -> str:
        return self.source_qualified_name.rpartition(":")[2]

    # --- what it holds

    @property
    def digest(self) -> str:
        """The digest over all paths and contents; a draft's large files are read for it."""
        return self._stored.version.digest if self._stored is not None else self.manifest.digest

    @property
    def digest_algorithm(self) -> str:
        algorithm = self.manifest.algorithm if self._stored is None else self._stored.version.algorithm
        return f"MANIFEST_{algorithm}"

    @property
    def commit_hash(self) -> str:
        return self.stored("commit_hash").version.digest

    @property
    def size(self) -> int:
        """Bytes of all entries."""
        return self._stored.version.size if self._stored is not None else self.manifest.size

    @property
    def file_count(self) -> int:
        return self._stored.version.num_files if self._stored is not None else len(self.manifest)

    # --- what may be edited

    @property
    def aliases(self) -> list[str]:
        """The words that stand for this version; edit the list, then `save()`."""
        if self._aliases is None:
            # Looked up when first asked for: that takes a look at the newer versions, and listings don't ask.
            where = self.stored("aliases")
            self._aliases = where.collection.aliases_of(where.version.number)
            self._saved_aliases = frozenset(self._aliases)
        return self._aliases

    @aliases.setter
    def aliases(self, aliases: Iterable[str]) -> None:
        self.aliases[:] = [check_alias(alias) for alias in _words(aliases)]

    @property
    def tags(self) -> list[str]:
        return self._tags

    @tags.setter
    def tags(self, tags: Iterable[str]) -> None:
        self._tags = [check_tag(tag) for tag in _words(tags)]

    def describe(self, aliases: Iterable[str] | str | None = None, tags: Iterable[str] | str | None = None) -> None:
        """Add aliases and tags to those that there are; `latest` needs no adding."""
        names = [check_alias(alias) for alias in _words(aliases) if alias != LATEST]
        marks = [check_tag(tag) for tag in _words(tags)]
        self.aliases.extend(alias for alias in names if alias not in self.aliases)
        self._tags += [tag for tag in marks if tag not in self._tags]

    @property
    def metadata(self) -> dict[str, Any]:
        """Anything about the artifact that JSON can hold."""
        return self._metadata

    @metadata.setter
    def metadata(self, metadata: dict[str, Any] | None) -> None:
        self._metadata = record.load_metadata(record.dump_metadata(metadata))

    @property
    def ttl(self) -> timedelta | None:
        """How long after its creation `gc()` keeps the version if no alias but latest points to it; None: for ever."""
        return self._ttl

    @ttl.setter
    def ttl(self, ttl: timedelta | ArtifactTTL | None) -> None:
        if isinstance(ttl, ArtifactTTL):
            ttl = None
        if ttl is not None and (not isinstance(ttl, timedelta) or ttl <= timedelta()):
            raise UsageError(f"ttl must be a positive datetime.timedelta or None, got {ttl!r}")
        self._ttl = ttl

    # --- where it comes from

    @property
    def created_at(self) -> str:
        """UTC, ISO 8601."""
        return _iso(self.stored("created_at").version.created_ns)

    @property
    def updated_at(self) -> str:
        where = self.stored("updated_at")
        edits = where.collection.edits(where.version.number)
        return _iso(edits.updated_ns) if edits is not None else self.created_at

    @property
    def history_step(self) -> int | None:
        """The step that the run was at when it logged this."""
        return self.stored("history_step").version.step


def _words(words: Iterable[str] | str | None) -> list[str]:
    if words is None:
        return []
    return list(dict.fromkeys([words] if isinstance(words, str) else words))


def _iso(time_ns: int) -> str:
    return datetime.fromtimestamp(time_ns / 1e9, tz=timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
