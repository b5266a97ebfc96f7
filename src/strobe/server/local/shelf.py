"""Where the artifacts of a home are, by what routes know: the number of a project in the index, the id of a version.

Everything is read from the home at the moment of asking (strobe.artifact), so there is no index of artifacts that could
lag behind. Only where an id was seen is remembered, because the home has no list of ids; looking for one that was not
seen means to look at all versions. What cannot be read as an artifact is not there.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

from strobe.artifact import record, store
from strobe.artifact.collection import Collection
from strobe.artifact.name import check_artifact_name
from strobe.errors import ArtifactError, NotInStore, UsageError
from strobe.home import Home
from strobe.store.artifacts import Version
from strobe.store.artifacts.collection import unknown_artifact
from strobe.store.artifacts.versions import unknown_version
from strobe.store.database import Database

#: entity, project and name of a collection, and the number of a version in it
Place = tuple[str, str, str, int]


class Shelf:
    """The artifacts of a home."""

    def __init__(self, home: Home, database: Database) -> None:
        self.home = home
        self._database = database
        self._ids: dict[str, Place] = {}

    def collections(self, project_id: int) -> list[Collection]:
        """Return the collections of a project that can be read, by name."""
        entity, project = self._project(project_id)
        return [found for found in store.collections(self.home, entity=entity, project=project) if _is_readable(found)]

    def collection(self, project_id: int, name: str) -> Collection:
        """Return a collection; NotInStore if there is none."""
        try:
            found = Collection(self.home, *self._project(project_id), check_artifact_name(name))
        except UsageError as error:
            raise unknown_artifact(name) from error
        if not found.exists():
            raise unknown_artifact(name)
        return found

    def find(self, version_id: str) -> tuple[Collection, int]:
        """Return where a version is, or was before it was deleted; NotInStore if it never was."""
        if version_id not in self._ids or _id_at(self.home, self._ids[version_id]) != version_id:
            self._ids = {found: place for place in self._places() if (found := _id_at(self.home, place)) is not None}
        if version_id not in self._ids:
            raise unknown_version(version_id)
        *path, number = self._ids[version_id]
        return Collection(self.home, *path), number

    def describe(self, collection: Collection, number: int, aliases: list[str] | None = None) -> Version:
        """Return a version as routes tell of it; its aliases are looked up unless they are known."""
        names = collection.aliases_of(number) if aliases is None else aliases
        version = collection.version(number)
        self._ids[version.id] = (collection.entity, collection.project, collection.name, number)
        return _version(collection, version, collection.edits(number), names)

    def _places(self) -> Iterator[Place]:
        for collection in store.collections(self.home):
            for number in (*collection.numbers(), *collection.deleted_numbers()):
                yield collection.entity, collection.project, collection.name, number

    def _project(self, project_id: int) -> tuple[str, str]:
        sql = "SELECT entity, name FROM project WHERE id = ?"
        row = self._database.read(lambda cursor: cursor.one(sql, project_id))
        if row is None:
            raise NotInStore(f"there is no project with the number {project_id}")
        return row[0], row[1]


def describe_deleted(collection: Collection, number: int) -> Version:
    """Return what is left of a deleted version."""
    version, deleted_ns = collection.deleted_version(number)
    return _version(collection, version, None, [], deleted_ns)


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """Let what is missing or damaged in a home be missing in the store, with what the home says of it."""
    try:
        yield
    except ArtifactError as error:
        raise NotInStore(str(error)) from error


def _id_at(home: Home, place: Place) -> str | None:
    """Return the id of the version that is, or was, at a place."""
    *path, number = place
    collection = Collection(home, *path)
    for look in (collection.version, lambda number: collection.deleted_version(number)[0]):
        with contextlib.suppress(ArtifactError):
            return look(number).id
    return None


def _is_readable(collection: Collection) -> bool:
    try:
        return bool(collection.type)
    except ArtifactError:
        return False


def _version(
    collection: Collection,
    version: record.Version,
    edits: record.Edits | None,
    aliases: list[str],
    deleted_ns: int | None = None,
) -> Version:
    said = edits or version
    return Version(
        id=version.id,
        entity=collection.entity,
        project=collection.project,
        name=collection.name,
        type=collection.type,
        number=version.number,
        digest=version.digest,
        algorithm=version.algorithm,
        size=version.size,
        num_files=version.num_files,
        aliases=aliases,
        tags=sorted(said.tags),
        description=said.description or "",
        metadata=record.load_metadata(said.metadata),
        ttl_s=None if said.ttl_s is None else math.ceil(said.ttl_s),
        use_as=version.use_as,
        source=version.source,
        logged_by=version.logged_by,
        step=version.step,
        created_ns=version.created_ns,
        updated_ns=version.created_ns if edits is None else edits.updated_ns,
        deleted_ns=deleted_ns,
    )
