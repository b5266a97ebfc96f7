"""The artifacts of a home in the form of a store's, part by part: what the routes ask for is read from the home.

Nothing is copied and nothing comes in: artifacts get into a home by runs that log them.
"""

from __future__ import annotations

from strobe.artifact import collection, record
from strobe.artifact.manifest import Manifest
from strobe.errors import ArtifactError, StoreConflict
from strobe.home import Home
from strobe.server.local.home_lineage import HomeLineage
from strobe.server.local.home_parts import HomeEdits
from strobe.server.local.home_versions import HomeVersions
from strobe.server.local.shelf import Shelf, reading
from strobe.store.artifacts import Artifacts, Collection, Draft, DraftFacts, TypeCount, Version
from strobe.store.artifacts.collection import Collections, unknown_artifact
from strobe.store.artifacts.drafts import Drafts
from strobe.store.contents import Contents


class HomeArtifacts(Artifacts):
    """All artifacts of a home, by noun."""

    def __init__(self, contents: Contents, home: Home, edits: HomeEdits) -> None:
        super().__init__(contents)
        shelf = Shelf(home, contents.database)
        self.collections = HomeCollections(contents, shelf)
        self.versions = HomeVersions(contents, shelf)
        self.drafts = HomeDrafts(contents)
        self.lineage = HomeLineage(contents.database, contents.clock, shelf, edits)


class HomeCollections(Collections):
    """The collections of a home's projects."""

    def __init__(self, contents: Contents, shelf: Shelf) -> None:
        super().__init__(contents.database)
        self._shelf = shelf

    def get(self, project_id: int, name: str) -> Collection:
        with reading():
            found = _describe(self._shelf.collection(project_id, name))
        if found is None:
            raise unknown_artifact(name)
        return found

    def page(self, project_id: int, *, type: str | None = None, after: str = "", limit: int = 100) -> list[Collection]:
        some: list[Collection] = []
        for found in self._shelf.collections(project_id):
            if len(some) < limit and found.name > after and type in (None, found.type) and (it := _describe(found)):
                some.append(it)
        return some

    def types(self, project_id: int) -> list[TypeCount]:
        counts: dict[str, int] = {}
        for found in self._shelf.collections(project_id):
            if found.numbers():
                counts[found.type] = counts.get(found.type, 0) + 1
        return [TypeCount(*item) for item in sorted(counts.items())]

    def describe(self, project_id: int, name: str, description: str) -> None:
        raise StoreConflict(f"a home keeps nothing about {name!r} as a whole; describe a version of it")


class HomeDrafts(Drafts):
    """No drafts: there is no other way into a home than a run."""

    def create(
        self, project_id: int, facts: DraftFacts, manifest: Manifest, *, run_id: int | None = None
    ) -> Draft | Version:
        raise StoreConflict(
            f"artifact {facts.name!r} cannot be sent to a home; log it in a run of this machine (run.log_artifact), or "
            "send it to a server"
        )


def _describe(found: collection.Collection) -> Collection | None:
    """Return a collection as routes tell of it; None if nothing is in it."""
    versions: list[record.Version] = []
    for number in found.numbers():
        try:
            versions.append(found.version(number))
        except ArtifactError:
            continue  # damaged, or deleted meanwhile
    if not versions:
        return None
    return Collection(
        entity=found.entity,
        project=found.project,
        name=found.name,
        type=found.type,
        description="",
        created_ns=found.created_ns,
        num_versions=len(versions),
        latest=versions[0].number,
        size=sum(version.size for version in versions),
    )
