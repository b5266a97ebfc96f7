"""Reading the local artifact store: find a version by name, list what there is, throw away what nobody refers to."""

from __future__ import annotations

import contextlib
import glob
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from strobe.artifact import staging
from strobe.artifact.artifact import Artifact
from strobe.artifact.atomic import UNFINISHED
from strobe.artifact.collection import Collection
from strobe.artifact.manifest import Manifest
from strobe.artifact.name import LATEST, ArtifactPath
from strobe.artifact.objects import Objects
from strobe.artifact.part import iter_part_manifests
from strobe.errors import ArtifactError, StrobeWarning
from strobe.home import LOCAL_ENTITY, Home, RunPath

#: objects and half-made things younger than this may belong to an artifact that is being logged
GRACE_S = 24 * 3600.0


def find(
    home: Home,
    name: str,
    type: str | None = None,
    *,
    entity: str = LOCAL_ENTITY,
    project: str | None = None,
) -> Artifact:
    """Return the artifact `[[entity/]project/]name[:version or alias]`; ArtifactError if there is none."""
    path = ArtifactPath.parse(name, entity=entity, project=project)
    return pick(Collection(home, path.entity, path.project, path.name), path.reference, type)


def pick(collection: Collection, reference: str, type: str | None = None) -> Artifact:
    """Return the version of a collection that a number or an alias stands for; ArtifactError if there is none."""
    name = collection.name
    if type is not None and collection.type != type:
        raise ArtifactError(f"artifact {name!r} has type {collection.type!r}, not {type!r}")
    if not collection.exists():
        raise ArtifactError(f"there is no artifact {collection.qualified_name!r} in {collection.place}")
    number = collection.resolve(reference)
    if number is None:
        known = ", ".join([*collection.aliases(), *(f"v{number}" for number in collection.numbers()[:5])])
        raise ArtifactError(f"artifact {name!r}: there is no {reference!r}; there is {known or 'nothing'}")
    return Artifact.from_store(collection, collection.version(number))


def exists(
    home: Home,
    name: str,
    type: str | None = None,
    *,
    entity: str = LOCAL_ENTITY,
    project: str | None = None,
) -> bool:
    """Tell whether `find` would find it."""
    try:
        find(home, name, type, entity=entity, project=project)
    except ArtifactError:
        return False
    return True


def find_all(home: Home, names: Iterable[str]) -> list[Artifact]:
    """Return those of the named artifacts that (still) exist."""
    found = []
    for name in names:
        with contextlib.suppress(ArtifactError):
            found.append(find(home, name))
    return found


def versions(
    home: Home,
    type: str | None,
    name: str,
    *,
    entity: str = LOCAL_ENTITY,
    project: str | None = None,
) -> list[Artifact]:
    """Return all versions of a name, newest first; none if there is no such name (of that type)."""
    path = ArtifactPath.parse(name, entity=entity, project=project)
    collection = Collection(home, path.entity, path.project, path.name)
    return versions_of(collection, type)


def versions_of(collection: Collection, type: str | None = None) -> list[Artifact]:
    """Return all versions of a collection, newest first; none if it is of another type."""
    if not collection.exists() or (type is not None and collection.type != type):
        return []
    return list(_iter_versions(collection))


def collections(
    home: Home,
    *,
    entity: str | None = None,
    project: str | None = None,
    type: str | None = None,
) -> list[Collection]:
    """Return the collections of a home, sorted by name; those of an entity, project or type if given."""
    return [found for found in _iter_collections(home, entity, project) if type is None or found.type == type]


def projects(home: Home) -> list[tuple[str, str]]:
    """Return entity and name of the projects that have artifacts, sorted."""
    root = home.artifacts / "collections"
    return sorted({(found.parent.name, found.name) for found in root.glob("*/*") if found.is_dir()})


def types(home: Home, *, entity: str = LOCAL_ENTITY, project: str | None = None) -> list[str]:
    """Return the artifact types of a project, sorted."""
    return sorted({found.type for found in collections(home, entity=entity, project=project)})


def logged_by(home: Home, run: RunPath) -> list[Artifact]:
    """Return what a run has logged, by the order of logging."""
    found = [
        artifact
        for collection in collections(home, entity=run.entity, project=run.project)
        for artifact in _iter_versions(collection)
        if artifact.logged_by() == run and not artifact.is_link
    ]
    return sorted(found, key=lambda artifact: artifact.stored("version").version.created_ns)


def used_by(home: Home, run: RunPath) -> list[Artifact]:
    """Return what a run has used, in any project of the home."""
    return [
        artifact
        for collection in collections(home)
        for artifact in _iter_versions(collection)
        if run in artifact.used_by()
    ]


class Swept(NamedTuple):
    """What `gc` has removed."""

    versions: int
    objects: int
    size_bytes: int


def gc(home: Home, *, grace_s: float = GRACE_S, now_ns: int | None = None) -> Swept:
    """Remove expired versions, objects that no version holds, and what killed processes left half done.

    Safe while others log: an object that was put in during the last `grace_s` seconds stays.
    """
    now = time.time_ns() if now_ns is None else now_ns
    num_expired = 0
    live: set[str] = set()
    for collection in _iter_collections(home):
        for number in collection.numbers():
            if _is_expired(collection, number, now):
                collection.delete(number)
                num_expired += 1
            else:
                # A manifest that can't be read stops the sweep here: its objects may be all there is left.
                live.update(_object_keys(collection.manifest(number)))
        for manifest in iter_part_manifests(collection.path, grace_s=grace_s):
            live.update(_object_keys(manifest))
        _remove_unfinished(collection.path, grace_s)
    staging.sweep(home.artifacts / "staging")
    count, size = Objects(home.artifacts / "objects").sweep(live, grace_s=grace_s)
    return Swept(num_expired, count, size)


def _is_expired(collection: Collection, number: int, now_ns: int) -> bool:
    facts = collection.version(number)
    ttl_s = (collection.edits(number) or facts).ttl_s
    if ttl_s is None or now_ns < facts.created_ns + ttl_s * 1e9:
        return False
    return not [alias for alias in collection.aliases_of(number) if alias != LATEST]


def _object_keys(manifest: Manifest) -> Iterator[str]:
    from strobe.artifact.digest import to_hex

    for entry in manifest:
        if entry.ref is None:
            yield f"{entry.algorithm.lower()}/{to_hex(entry.digest)}"


def _remove_unfinished(directory: Path, grace_s: float) -> None:
    import shutil

    deadline = time.time() - grace_s
    for path in [*directory.glob(f"{UNFINISHED}*"), *directory.glob(f"*/{UNFINISHED}*")]:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < deadline:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def _iter_versions(collection: Collection) -> Iterator[Artifact]:
    for number in collection.numbers():
        try:
            yield Artifact.from_store(collection, collection.version(number))
        except ArtifactError as exc:
            warnings.warn(str(exc), StrobeWarning, stacklevel=4)


def _iter_collections(home: Home, entity: str | None = None, project: str | None = None) -> Iterator[Collection]:
    root = home.artifacts / "collections"
    place = "/".join("*" if part is None else glob.escape(part) for part in (entity, project))
    if root.is_dir():
        for path in sorted(root.glob(f"{place}/*/collection.json")):
            entity, project, name = path.parts[-4:-1]
            yield Collection(home, entity, project, name)
