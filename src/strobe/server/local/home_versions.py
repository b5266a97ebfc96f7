"""The versions of a home's artifacts: found, listed, read, edited and deleted where they lie."""

from __future__ import annotations

import functools
import hashlib
import io
import os
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice

import msgspec

from strobe.artifact import record
from strobe.artifact.collection import Collection
from strobe.artifact.manifest import Entry, Manifest
from strobe.artifact.name import LATEST, check_tag
from strobe.artifact.objects import Objects
from strobe.errors import ArtifactError, NotInStore, StoreConflict, UsageError
from strobe.server.local.shelf import Shelf, describe_deleted, reading
from strobe.store.artifacts import Version
from strobe.store.artifacts.aliases import check_aliases
from strobe.store.artifacts.record import EntryFacts
from strobe.store.artifacts.versions import Edits, Versions, check_ttl
from strobe.store.contents import Contents

#: manifests that are kept in memory: whoever looks through a version asks for one entry after the other
_KEPT_MANIFESTS = 4
_PIECE_BYTES = 1 << 20


class _Contents:
    """What a version holds, and its paths in order."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.paths = sorted(manifest.entries)


class HomeVersions(Versions):
    """The versions of all collections of a home."""

    def __init__(self, contents: Contents, shelf: Shelf) -> None:
        super().__init__(contents)
        self._shelf = shelf
        self._objects = Objects(shelf.home.artifacts / "objects")
        self._holding = functools.lru_cache(maxsize=_KEPT_MANIFESTS)(self._hold)
        #: an edit replaces all that is said, so that two at once would undo each other
        self._editing = threading.Lock()

    def get(self, project_id: int, name: str, reference: str = LATEST) -> Version:
        with reading():
            collection = self._shelf.collection(project_id, name)
            try:
                number = collection.resolve(reference)
            except UsageError:
                number = None  # what can't be an alias is none
            if number is None:
                raise NotInStore(f"artifact {name!r} has no {reference[:200]!r}; it may have been deleted")
            return self._shelf.describe(collection, number)

    def by_id(self, version_id: str) -> Version:
        with reading():
            collection, number = self._shelf.find(version_id)
            if number in collection.numbers():
                return self._shelf.describe(collection, number)
            return describe_deleted(collection, number)

    def page(
        self,
        project_id: int,
        name: str,
        *,
        before: int | None = None,
        limit: int = 100,
        tag: str | None = None,
        deleted: bool = False,
    ) -> list[Version]:
        """As in a store; of those that were deleted none can be brought back."""
        with reading():
            collection = self._shelf.collection(project_id, name)
            numbers = [number for number in collection.numbers() if before is None or number < before]
            found = self._intact(collection, [] if deleted else numbers)
            return list(islice((version for version in found if tag is None or tag in version.tags), limit))

    def _intact(self, collection: Collection, numbers: list[int]) -> Iterator[Version]:
        names: dict[int, list[str]] = {}
        for alias, number in (collection.aliases() if numbers else {}).items():
            names.setdefault(number, []).append(alias)
        for number in numbers:
            try:
                yield self._shelf.describe(collection, number, names.get(number, []))
            except ArtifactError:
                continue  # damaged, or deleted meanwhile; the others are shown

    # --- what they hold

    def manifest(self, version: Version) -> Manifest:
        return self._holding(version.id).manifest

    def entry(self, version: Version, path: str) -> EntryFacts:
        found = self._holding(version.id).manifest.entries.get(path)
        if found is None:
            raise NotInStore(f"the artifact has no entry {path[:200]!r}")
        return _facts(found)

    def entries(self, version: Version, *, prefix: str = "", after: str = "", limit: int = 1000) -> list[EntryFacts]:
        held = self._holding(version.id)
        start = max(bisect_left(held.paths, prefix), bisect_right(held.paths, after) if after else 0)
        some = islice(held.paths, start, start + limit)
        return [_facts(held.manifest.entries[path]) for path in some if path.startswith(prefix)]

    def read(self, entry: EntryFacts, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        if entry.ref is not None:
            raise UsageError(f"{entry.path!r} is a reference to {entry.ref!r}; fetch it from there")
        with reading():
            file = self._objects.open(entry.digest, entry.algorithm)
        # Found out before the answer begins: a content that is not whole must not become half an answer.
        if (size := os.fstat(file.fileno()).st_size) != entry.size:
            file.close()
            raise NotInStore(
                f"the stored content of {entry.path!r} is damaged: it has {size} bytes instead of {entry.size}; "
                "log the artifact again from its files"
            )
        return _pieces(file, start, size if stop is None else stop)

    def _hold(self, version_id: str) -> _Contents:
        with reading():
            collection, number = self._shelf.find(version_id)
            return _Contents(collection.manifest(number))

    # --- changes

    def edit(self, version_id: str, edits: Edits) -> Version:
        added, removed = check_aliases(edits.add_aliases), check_aliases(edits.remove_aliases)
        check_ttl(edits)
        tags = [] if edits.tags is msgspec.UNSET else [check_tag(tag) for tag in dict.fromkeys(edits.tags)]
        with reading(), self._editing:
            collection, number = self._find_there(version_id)
            known = collection.edits(number) or collection.version(number)
            unset = msgspec.UNSET
            metadata = known.metadata if edits.metadata is unset else record.dump_metadata(edits.metadata)
            fresh = record.Edits(
                updated_ns=self._contents.clock(),
                description=known.description if edits.description is unset else edits.description or None,
                metadata=metadata,
                tags=known.tags if edits.tags is unset else tags,
                ttl_s=known.ttl_s if edits.ttl_s is unset else edits.ttl_s,
            )
            collection.edit(number, fresh)
            # An alias that stands for another version by now is left alone.
            for alias in set(removed).intersection(collection.aliases_of(number)):
                collection.point(alias, None)
            for alias in added:
                collection.point(alias, number)
            return self._shelf.describe(collection, number)

    def delete(self, version_id: str, *, with_aliases: bool = False) -> None:
        """Delete a version for good: a home keeps what it was, not what it held."""
        with reading(), self._editing:
            collection, number = self._find_there(version_id)
            names = [alias for alias in collection.aliases_of(number) if alias != LATEST]
            if names and not with_aliases:
                raise UsageError(f"the version has the aliases {names}; say that they are to go with it")
            collection.delete(number)

    def restore(self, version_id: str) -> Version:
        version = self.by_id(version_id)
        if version.deleted_ns is not None:
            raise StoreConflict(
                f"{version.qualified_name} was deleted, and a home keeps nothing to bring it back from; log it again"
            )
        return version

    def _find_there(self, version_id: str) -> tuple[Collection, int]:
        collection, number = self._shelf.find(version_id)
        if number not in collection.numbers():
            raise NotInStore("the artifact version was deleted; log it again")
        return collection, number


def _facts(entry: Entry) -> EntryFacts:
    # Names the content as a sha256 would, so that answers have their tags, without reading it.
    name = None if entry.ref is not None else hashlib.sha256(f"{entry.algorithm}:{entry.digest}".encode()).hexdigest()
    return EntryFacts(
        path=entry.path, digest=entry.digest, algorithm=entry.algorithm, size=entry.size, ref=entry.ref, sha256=name
    )


def _pieces(file: io.FileIO, start: int, stop: int) -> Iterator[bytes]:
    with file:
        file.seek(start)
        left = stop - start
        while left > 0 and (piece := file.read(min(left, _PIECE_BYTES))):
            left -= len(piece)
            yield piece
