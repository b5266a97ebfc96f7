"""The artifacts of a server. `strobe.artifact.Artifact` is one class for both: its collection knows where it lies."""

from __future__ import annotations

import msgspec

from strobe.api.server.collection import CollectionFacts, ServerCollection, VersionFacts
from strobe.api.server.host import Host, at
from strobe.artifact import Artifact, Collection, store
from strobe.artifact.name import ArtifactPath
from strobe.errors import ArtifactError, UsageError
from strobe.home import Home


class _Versions(msgspec.Struct, frozen=True):
    items: list[VersionFacts]


class _CollectionPage(msgspec.Struct, frozen=True):
    items: list[CollectionFacts]
    cursor: str | None = None


class _TypeFacts(msgspec.Struct, frozen=True):
    name: str


class _Types(msgspec.Struct, frozen=True):
    items: list[_TypeFacts]


class ServerArtifacts:
    """The artifacts of a server."""

    def __init__(self, host: Host, home: Home) -> None:
        self._host = host
        self._home = home

    def _collection(self, path: ArtifactPath) -> ServerCollection:
        return ServerCollection(self._host, self._home, path.entity, path.project, path.name)

    def find(self, name: str, type: str | None, *, entity: str, project: str | None) -> Artifact:
        path = ArtifactPath.parse(name, entity=entity, project=project)
        return store.pick(self._collection(path), path.reference, type)

    def versions(self, type: str | None, name: str, *, entity: str, project: str | None) -> list[Artifact]:
        return store.versions_of(self._collection(ArtifactPath.parse(name, entity=entity, project=project)), type)

    def types(self, *, entity: str, project: str | None) -> list[str]:
        found = self._host.get(at("artifacts", entity, _named(project), "types"), _Types, missing=ArtifactError)
        return sorted(kind.name for kind in found.items)

    def collections(self, *, entity: str | None, project: str | None, type: str | None) -> list[Collection]:
        path = at("artifacts", entity or "local", _named(project), "collections")
        pages = self._host.pages(path, _CollectionPage, {"type": type, "limit": 1000}, missing=ArtifactError)
        return [
            ServerCollection(self._host, self._home, facts.entity, facts.project, facts.name, facts.type)
            for page in pages
            for facts in page.items
        ]

    def of_run(self, run: str, role: str) -> list[Artifact]:
        """Return what a run (by its address) has logged or used."""
        found = self._host.get(f"{run}/artifacts", _Versions, {"role": role}, missing=ArtifactError).items
        return [self._artifact(facts) for facts in found]

    def _artifact(self, facts: VersionFacts) -> Artifact:
        path = (facts.entity, facts.project, facts.name)
        collection = ServerCollection(self._host, self._home, *path, facts.type)
        return Artifact.from_store(collection, collection.know(facts))


def _named(project: str | None) -> str:
    if project is None:
        raise UsageError("which project? a server is asked about one at a time; write entity/project")
    return project
