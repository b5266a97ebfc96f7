"""A collection on a server that answers as one of a home does, with contents that are fetched when they are needed.

What was fetched is kept by its digest among the objects of the home, and goes with its next gc.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec

from strobe.api.server.host import Host, at
from strobe.artifact import Collection, Manifest, record
from strobe.artifact import digest as digests
from strobe.artifact.atomic import UNFINISHED, token
from strobe.artifact.name import LATEST
from strobe.artifact.objects import Objects
from strobe.artifact.record import Edits, Use, Version
from strobe.errors import ArtifactError, UsageError
from strobe.home import Home
from strobe.wire import artifact as wire


class VersionFacts(wire.Version, frozen=True, kw_only=True):
    """A version as a server tells of it."""

    def version(self) -> Version:
        return Version(
            number=self.number,
            id=self.id,
            digest=self.digest,
            created_ns=self.created_ns,
            algorithm=self.algorithm,
            size=self.size,
            num_files=self.num_files,
            logged_by=self.logged_by,
            step=self.step,
            aliases=[alias for alias in self.aliases if alias != LATEST],
            source=self.source,
            use_as=self.use_as,
            description=self.description or None,
            metadata=record.dump_metadata(self.metadata),
            tags=self.tags,
            ttl_s=self.ttl_s,
        )

    def edits(self) -> Edits:
        return Edits(
            updated_ns=self.updated_ns,
            description=self.description or None,
            metadata=record.dump_metadata(self.metadata),
            tags=self.tags,
            ttl_s=self.ttl_s,
        )


class _VersionPage(msgspec.Struct, frozen=True):
    items: list[VersionFacts]
    cursor: str | None = None


class _UseFacts(msgspec.Struct, frozen=True):
    run: str
    role: str
    time_ns: int
    use_as: str | None = None


class _Uses(msgspec.Struct, frozen=True):
    items: list[_UseFacts]


class CollectionFacts(msgspec.Struct, frozen=True):
    entity: str
    project: str
    name: str
    type: str


class ServerCollection(Collection):
    """The versions of a name on a server."""

    def __init__(self, host: Host, home: Home, entity: str, project: str, name: str, kind: str | None = None) -> None:
        super().__init__(home, entity, project, name)
        self._host = host
        self._kind = kind
        self._at = at("artifacts", entity, project, "collections", name)
        self._known: dict[int, VersionFacts] = {}
        #: never change once they are there
        self._manifests: dict[int, bytes] = {}
        self._contents: dict[int, _Fetched] = {}

    @property
    def place(self) -> str:
        return self._host.url

    @property
    def type(self) -> str:
        if self._kind is None:
            self._kind = self._host.get(self._at, CollectionFacts, missing=ArtifactError).type
        return self._kind

    def exists(self) -> bool:
        if self._kind is None and (found := self._host.find(self._at, CollectionFacts)) is not None:
            self._kind = found.type
        return self._kind is not None

    def sibling(self, entity: str, project: str, name: str) -> ServerCollection:
        return ServerCollection(self._host, self.home, entity, project, name)

    # --- versions

    def know(self, facts: VersionFacts) -> Version:
        """Take in what is known of a version."""
        self._known[facts.number] = facts
        return facts.version()

    def numbers(self) -> list[int]:
        pages = self._host.pages(f"{self._at}/versions", _VersionPage, {"limit": 1000}, missing=ArtifactError)
        self._known = {facts.number: facts for page in pages for facts in page.items}
        return sorted(self._known, reverse=True)

    def _told(self, number: int) -> VersionFacts:
        if number not in self._known:
            self._look(f"v{number}")
        return self._known[number]

    def _look(self, reference: str) -> VersionFacts:
        found = self._host.get(self._version_at(reference), VersionFacts, missing=ArtifactError)
        self._known[found.number] = found
        return found

    def _version_at(self, reference: str) -> str:
        return self._at + at("versions", reference)

    def version(self, number: int) -> Version:
        return self._told(number).version()

    def manifest(self, number: int) -> Manifest:
        algorithm = self._told(number).algorithm
        if number not in self._manifests:
            path = f"{self._version_at(f'v{number}')}/manifest"
            self._manifests[number] = self._host.raw(path, missing=ArtifactError)
        return Manifest.decode(self._manifests[number], algorithm=algorithm)

    def contents(self, number: int) -> Objects:
        if number not in self._contents:
            version, manifest = self._version_at(f"v{number}"), self.manifest(number)
            self._contents[number] = _Fetched(self.home.artifacts / "objects", self._host, version, manifest)
        return self._contents[number]

    def create(self, kind: str) -> None:
        raise UsageError(f"{self.place} takes artifacts from runs; log it in a run, or in a home")

    def delete(self, number: int) -> None:
        for kept in (self._known, self._manifests, self._contents):
            kept.pop(number, None)
        self._host.send("DELETE", self._version_at(f"v{number}") + "?aliases=true", missing=ArtifactError)

    # --- aliases

    def resolve(self, reference: str) -> int | None:
        found = self._host.find(self._version_at(reference), VersionFacts)
        return None if found is None else self.know(found).number

    def point(self, alias: str, number: int | None) -> None:
        if alias == LATEST:
            return
        if number is not None:
            self._edit(number, {"add_aliases": [alias]})
        elif (holder := self.resolve(alias)) is not None:
            self._edit(holder, {"remove_aliases": [alias]})

    def aliases_of(self, number: int) -> list[str]:
        return list(self._look(f"v{number}").aliases)

    def aliases(self) -> dict[str, int]:
        return {alias: number for number in self.numbers() for alias in self._told(number).aliases}

    # --- what is said about a version

    def edits(self, number: int) -> Edits | None:
        facts = self._told(number)
        return None if facts.updated_ns == facts.created_ns else facts.edits()

    def edit(self, number: int, edits: Edits) -> None:
        changes = {
            "description": edits.description or "",
            "metadata": record.load_metadata(edits.metadata),
            "tags": edits.tags,
            "ttl_s": None if edits.ttl_s is None else int(edits.ttl_s),
        }
        self._edit(number, changes)

    def _edit(self, number: int, changes: dict[str, Any]) -> None:
        self.know(
            self._host.send("PATCH", self._version_at(f"v{number}"), changes, VersionFacts, missing=ArtifactError)
        )

    def note_use(self, number: int, use: Use, *, kind: str = "used") -> None:
        raise UsageError(f"{self.place} learns from runs what they use; call run.use_artifact()")

    def uses(self, number: int, *, kind: str = "used") -> list[Use]:
        if kind != "used":
            return []
        path = at("artifact-versions", self._told(number).id, "runs")
        found = self._host.get(path, _Uses, missing=ArtifactError).items
        return [Use(by=use.run, time_ns=use.time_ns, use_as=use.use_as) for use in found if use.role == "used"]


class _Fetched(Objects):
    """Contents of a version that come from its server when they are not here."""

    def __init__(self, directory: Path, host: Host, version: str, manifest: Manifest) -> None:
        super().__init__(directory)
        self._host = host
        self._version = version
        self._entries = {(entry.digest, entry.algorithm): entry for entry in manifest if entry.ref is None}

    def open(self, digest: str, algorithm: str) -> io.FileIO:
        entry = self._entries.get((digest, algorithm))
        if entry is not None and not self.has(digest, entry.size or 0, algorithm):
            self._fetch(digest, algorithm, entry.path, entry.size or 0)
        return super().open(digest, algorithm)

    def _fetch(self, digest: str, algorithm: str, path: str, size: int) -> None:
        target = self.path(digest, algorithm)
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(UNFINISHED + token())
        try:
            self._host.download(self._version + at("files", rest=path), partial, size, missing=ArtifactError)
            with io.FileIO(partial) as stream:
                found = digests.of_file(stream, algorithm)
            if found != digest:
                raise ArtifactError(f"{path!r} came with the digest {found}, logged was {digest}; download it again")
            partial.chmod(0o444)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
