"""`Artifact`: files under a name, with versions. A draft collects them; logged, it's read back from the store.

The parts: `Contents` (what is added), `Details` (names and attributes), `Logged` (reading), and here its life. An
artifact knows its home, not its run: runs log artifacts through strobe.sdk.artifacts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from strobe.artifact import context, record
from strobe.artifact.collection import Collection
from strobe.artifact.details import Stored
from strobe.artifact.job import Job
from strobe.artifact.logged import Logged
from strobe.artifact.name import LATEST, ArtifactPath, check_alias
from strobe.artifact.record import Edits, Use, Version
from strobe.errors import UsageError
from strobe.home import DEFAULT_PROJECT, LOCAL_ENTITY


class Artifact(Logged):
    """A named, typed set of files; every different content that is logged under the name is a version."""

    def __init__(
        self,
        name: str,
        type: str,
        description: str | None = None,
        metadata: dict[str, Any] | None = None,
        incremental: bool = False,
        use_as: str | None = None,
        storage_region: str | None = None,
        digest_algorithm: str = "MD5",
    ) -> None:
        super().__init__(name, type, description, metadata, digest_algorithm)
        #: the entries are added to those of the latest version
        self.incremental = incremental
        self.use_as = use_as
        self.storage_region = storage_region
        self._job: Job | None = None

    def __repr__(self) -> str:
        return f"<Artifact {self.name} ({self.type}, {self.state})>"

    @classmethod
    def from_store(cls, collection: Collection, version: Version) -> Artifact:
        """Return the artifact that a version is (strobe.artifact.store finds them)."""
        artifact = cls(collection.name, collection.type)
        artifact.become(collection, version)
        return artifact

    def become(self, collection: Collection, version: Version) -> None:
        """Be that version from now on."""
        edits = collection.edits(version.number) or version
        self.finalize()
        self._aliases = None
        self._tags = list(edits.tags)
        self._metadata = record.load_metadata(edits.metadata)
        self._ttl = timedelta(seconds=edits.ttl_s) if edits.ttl_s is not None else None
        self.description = edits.description
        self.use_as = self.use_as or version.use_as
        # Last, because other threads take it as the sign that all of this is there.
        self._stored = Stored(collection, version)

    # --- life

    @property
    def state(self) -> str:
        """PENDING (not logged, or being logged), COMMITTED, FAILED or DELETED."""
        if self._stored is not None:
            number, collection = self._stored.version.number, self._stored.collection
            return "COMMITTED" if number in collection.numbers() else "DELETED"
        return "FAILED" if self._job is not None and self._job.error is not None else "PENDING"

    @property
    def is_pending(self) -> bool:
        """Whether a job is logging it just now."""
        return self._job is not None and not self._job.is_done

    def follow(self, job: Job) -> None:
        """Let `wait()` wait for `job`, which logs this artifact."""
        self.finalize()
        self._job = job

    def wait(self, timeout: float | None = None) -> Artifact:
        """Wait until the artifact is logged; ArtifactError if that failed or `timeout` seconds passed."""
        if self._job is not None:
            self._job.wait(timeout)
        self.stored("version")
        return self

    def save(self, project: str | None = None, settings: object = None) -> None:
        """Log a draft to the current run (without one: to the default home), or write edits of a logged artifact."""
        from strobe.artifact.commit import commit

        if self._stored is not None:
            self._save_edits(self._stored)
        elif (run := context.current()) is not None:
            run.log(self)
        else:
            commit(self, context.current_home(), LOCAL_ENTITY, project or DEFAULT_PROJECT)

    def new_draft(self) -> Artifact:
        """Return a draft that holds what this version holds, to be changed and logged as the next one."""
        self.stored("version")
        draft = Artifact(
            self._name, self._type, self.description, self.metadata, digest_algorithm=self.manifest.algorithm
        )
        for entry in self.manifest:
            draft.manifest.add(entry.copied())
        return draft

    def delete(self, delete_aliases: bool = False) -> None:
        """Delete this version; one that has aliases besides `latest` only with `delete_aliases=True`."""
        where = self.stored("version")
        names = [alias for alias in where.collection.aliases_of(where.version.number) if alias != LATEST]
        if names and not delete_aliases:
            raise UsageError(f"{self.name} has the aliases {names}; pass delete_aliases=True to delete it anyway")
        where.collection.delete(where.version.number)

    def link(self, target_path: str, aliases: Iterable[str] | str | None = None) -> Artifact:
        """Show this version in another collection, `[[entity/]project/]name`, and return it as seen there."""
        from strobe.artifact.commit import publish

        where = self.wait().stored("version")
        target = ArtifactPath.parse(target_path, entity=self.entity, project=self.project)
        collection = where.collection.sibling(target.entity, target.project, target.name)
        source = where.version.source or self.qualified_name
        version = publish(self, collection, where.version.logged_by, source=source, aliases=aliases)
        linked = Artifact.from_store(collection, version)
        where.collection.note_use(
            where.version.number, Use(by=linked.qualified_name, time_ns=time.time_ns()), kind="links"
        )
        return linked

    def unlink(self) -> None:
        """Take a linked version out of the collection it was linked to; the source stays."""
        if not self.is_link:
            raise UsageError(f"{self.name} is not a link; use delete() to delete it")
        self.delete(delete_aliases=True)

    @property
    def linked_artifacts(self) -> list[Artifact]:
        """The places that this version was linked to."""
        from strobe.artifact.store import find_all

        where = self.stored("linked_artifacts")
        links = where.collection.uses(where.version.number, kind="links")
        return find_all(where.collection.home, [link.by for link in links])

    @property
    def source_artifact(self) -> Artifact:
        """The version that a link stands for; itself if it's no link."""
        from strobe.artifact.store import pick

        if not self.is_link:
            return self
        source = ArtifactPath.parse(self.source_qualified_name)
        return pick(self.collection.sibling(source.entity, source.project, source.name), source.reference)

    def _save_edits(self, where: Stored) -> None:
        number = where.version.number
        wanted = frozenset(check_alias(alias) for alias in self.aliases)
        for alias in wanted - self._saved_aliases:
            where.collection.point(alias, number)
        # An alias that somebody has moved elsewhere in the meantime is not ours to take away.
        for alias in (self._saved_aliases - wanted) & set(where.collection.aliases_of(number)):
            where.collection.point(alias, None)
        self._saved_aliases = wanted
        edits = Edits(
            updated_ns=time.time_ns(),
            description=self.description,
            metadata=record.dump_metadata(self.metadata),
            tags=self._tags,
            ttl_s=self._ttl.total_seconds() if self._ttl is not None else None,
        )
        where.collection.edit(number, edits)


def from_path(path: str, name: str, kind: str | None) -> Artifact:
    """Return a draft of what is at `path`: a file, a directory or an address."""
    artifact = Artifact(name, kind or "unspecified")
    if "://" in path:
        artifact.add_reference(path)
    elif os.path.isdir(path):
        artifact.add_dir(path)
    else:
        artifact.add_file(path)
    return artifact
