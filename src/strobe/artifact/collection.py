"""All versions of one name, on disk.

    <home>/artifacts/collections/<entity>/<project>/<name>/
        collection.json                    its type, fixed by whoever logs first
        v0/version.json, v0/manifest.json  published whole, by renaming the directory
        v0/edits.json, v0/used/, v0/links/
        v1.deleted/                        keeps the number of a deleted version taken
        aliases/<alias>.json               where an alias was put by hand
        parts/                             see strobe.artifact.part

A name lies directly under its project, not under its type, so that two processes can't give it two types. There is no
index to get out of step: `latest` is the highest version there is, other aliases are claims, and the latest claim
wins. A number is never used twice, even if its version was deleted.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec

from strobe.artifact import record
from strobe.artifact.atomic import create_directory
from strobe.artifact.manifest import Manifest
from strobe.artifact.name import LATEST, check_alias, version_number
from strobe.artifact.objects import Objects
from strobe.artifact.record import AliasEdit, CollectionFacts, Edits, Use, Version
from strobe.errors import ArtifactError
from strobe.home import Home

_DELETED = ".deleted"


class Collection:
    """The versions of `entity/project/name` in a home."""

    def __init__(self, home: Home, entity: str, project: str, name: str) -> None:
        self.home = home
        self.entity = entity
        self.project = project
        self.name = name
        self.path = home.artifacts / "collections" / entity / project / name
        self._facts: CollectionFacts | None = None
        self._versions: dict[int, Version] = {}

    def __repr__(self) -> str:
        return f"Collection({self.qualified_name!r})"

    @property
    def qualified_name(self) -> str:
        return f"{self.entity}/{self.project}/{self.name}"

    @property
    def place(self) -> str:
        """What messages call the place that it is in."""
        return str(self.home.path)

    @property
    def type(self) -> str:
        """The type of all versions; ArtifactError if there is no such collection."""
        return self._known_facts().type

    @property
    def created_ns(self) -> int:
        return self._known_facts().created_ns

    def _known_facts(self) -> CollectionFacts:
        if self._facts is None:
            self._facts = record.read_if_there(self.path / "collection.json", CollectionFacts)
        if self._facts is None:
            raise ArtifactError(f"there is no artifact {self.qualified_name!r} in {self.place}")
        return self._facts

    def exists(self) -> bool:
        return (self.path / "collection.json").is_file()

    # --- versions

    def numbers(self) -> list[int]:
        """Return the numbers of the versions that there are, newest first."""
        found = [version_number(name) for name in self._names()]
        return sorted((number for number in found if number is not None), reverse=True)

    def deleted_numbers(self) -> list[int]:
        """Return the numbers of the versions that were deleted, newest first."""
        names = (name.removesuffix(_DELETED) for name in self._names() if name.endswith(_DELETED))
        return sorted((number for name in names if (number := version_number(name)) is not None), reverse=True)

    def deleted_version(self, number: int) -> tuple[Version, int]:
        """Return what a deleted version was, and when it was deleted; ArtifactError if that is not known."""
        directory = self._dir(number).with_name(f"v{number}{_DELETED}")
        found = record.read_if_there(directory / "version.json", Version)
        if found is None:
            raise ArtifactError(f"there was no version v{number} of {self.qualified_name!r}")
        return found, directory.stat().st_mtime_ns

    def version(self, number: int) -> Version:
        """Return the facts of a version; ArtifactError if it's not there."""
        if number not in self._versions:
            found = record.read_if_there(self._dir(number) / "version.json", Version)
            if found is None:
                raise ArtifactError(f"there is no version v{number} of {self.qualified_name!r}")
            self._versions[number] = found
        return self._versions[number]

    def manifest(self, number: int) -> Manifest:
        """Return what a version holds."""
        algorithm = self.version(number).algorithm
        try:
            content = (self._dir(number) / "manifest.json").read_bytes()
        except FileNotFoundError as exc:
            raise ArtifactError(f"version v{number} of {self.qualified_name!r} was deleted") from exc
        return Manifest.decode(content, algorithm=algorithm)

    def contents(self, number: int) -> Objects:
        """Return where the contents of a version's entries are."""
        return Objects(self.home.artifacts / "objects")

    def sibling(self, entity: str, project: str, name: str) -> Collection:
        """Return another collection of the same place."""
        return Collection(self.home, entity, project, name)

    def create(self, kind: str) -> None:
        """Make the collection unless it's there; ArtifactError if it's there with another type."""
        facts = CollectionFacts(name=self.name, type=kind, created_ns=time.time_ns())
        if not self.exists():
            create_directory(self.path, {"collection.json": msgspec.json.encode(facts)})
        if self.type != kind:
            raise ArtifactError(
                f"artifact {self.qualified_name!r} has type {self.type!r} already and can't get {kind!r}; "
                "choose another name or that type"
            )

    def publish(self, facts: Version, added: Manifest, *, on_latest: bool = False) -> tuple[Version, bool]:
        """Add a version, and tell whether it's new: the latest one is returned if it holds the same.

        `on_latest` puts `added` over what the latest version holds. Every object must be in the store by now: once the
        directory is renamed, others will read it.
        """
        while True:
            taken = self._highest()
            latest = self._intact_latest()
            manifest = added
            if on_latest and latest is not None:
                manifest = self.manifest(latest.number).merged(added)
                manifest.check_tree()
            digest = manifest.digest
            if latest is not None and latest.digest == digest:
                return latest, False
            version = msgspec.structs.replace(
                facts,
                number=taken + 1,
                digest=digest,
                algorithm=manifest.algorithm,
                size=manifest.size,
                num_files=len(manifest),
            )
            files = {"version.json": msgspec.json.encode(version), "manifest.json": manifest.encode()}
            if create_directory(self._dir(version.number), files):
                return version, True

    def delete(self, number: int) -> None:
        """Take a version away; its number stays taken, its objects go with the next gc."""
        for alias in self.aliases_of(number):
            if alias != LATEST:
                self.point(alias, None)
        self._versions.pop(number, None)
        directory = self._dir(number)
        deleted = directory.rename(directory.with_name(directory.name + _DELETED))
        # The renaming was the deletion; the facts stay for whoever asks what the number was.
        (deleted / "manifest.json").unlink(missing_ok=True)

    # --- aliases

    def resolve(self, reference: str) -> int | None:
        """Return the version that `v3`, `latest` or an alias stands for, None if nothing does."""
        numbers = self.numbers()
        number = version_number(reference)
        if number is not None:
            return number if number in numbers else None
        return self._resolve(reference, numbers)

    def _resolve(self, reference: str, numbers: list[int]) -> int | None:
        if reference == LATEST:
            return numbers[0] if numbers else None
        edit = record.read_if_there(self._alias_path(reference), AliasEdit)
        for newer in numbers:
            if edit is not None and newer <= edit.after:
                break
            if reference in self._claims(newer):
                return newer
        return edit.version if edit is not None and edit.version in numbers else None

    def point(self, alias: str, number: int | None) -> None:
        """Move an alias to a version, or take it away (None); `latest` moves by itself only."""
        if alias == LATEST:
            return
        edit = AliasEdit(version=number, after=self._highest(), time_ns=time.time_ns())
        record.write(self._alias_path(alias), edit)

    def aliases_of(self, number: int) -> list[str]:
        """Return the aliases that stand for a version now, `latest` first."""
        numbers = self.numbers()
        candidates = {*self._claims(number), *self._edited_aliases()}
        found = sorted(alias for alias in candidates if self._resolve(alias, numbers) == number)
        return [LATEST, *found] if numbers[:1] == [number] else found

    def aliases(self) -> dict[str, int]:
        """Return every alias with the version that it stands for."""
        numbers = self.numbers()
        words = {alias for number in numbers for alias in self._claims(number)}
        found = {alias: self._resolve(alias, numbers) for alias in sorted(words.union(self._edited_aliases()))}
        latest = {LATEST: numbers[0]} if numbers else {}
        return {**latest, **{alias: number for alias, number in found.items() if number is not None}}

    # --- what is said about a version

    def edits(self, number: int) -> Edits | None:
        return record.read_if_there(self._dir(number) / "edits.json", Edits)

    def edit(self, number: int, edits: Edits) -> None:
        record.write(self._dir(number) / "edits.json", edits)

    def note_use(self, number: int, use: Use, *, kind: str = "used") -> None:
        """Remember that a run used (or, kind="links", that another collection holds) a version."""
        import hashlib

        # A hash, because three names of 128 bytes each don't fit into a file name.
        name = hashlib.sha1(use.by.encode(), usedforsecurity=False).hexdigest()
        record.write(self._dir(number) / kind / f"{name}.json", use)

    def uses(self, number: int, *, kind: str = "used") -> list[Use]:
        """Return who used (or linked) a version, in order of time."""
        directory = self._dir(number) / kind
        found = [record.read(path, Use) for path in directory.glob("*.json")] if directory.is_dir() else []
        return sorted(found, key=lambda use: use.time_ns)

    # --- paths

    def _dir(self, number: int) -> Path:
        return self.path / f"v{number}"

    def _alias_path(self, alias: str) -> Path:
        return self.path / "aliases" / f"{check_alias(alias)}.json"

    def _edited_aliases(self) -> list[str]:
        directory = self.path / "aliases"
        return [path.stem for path in directory.glob("*.json")] if directory.is_dir() else []

    def _names(self) -> list[str]:
        try:
            return os.listdir(self.path)
        except FileNotFoundError:
            return []

    def _highest(self) -> int:
        """Return the highest number that was ever given, -1 if none was."""
        found = (version_number(name.removesuffix(_DELETED)) for name in self._names())
        return max((number for number in found if number is not None), default=-1)

    def _claims(self, number: int) -> list[str]:
        """Return the aliases that a version was logged with; one that is damaged claims none."""
        try:
            return self.version(number).aliases
        except ArtifactError:
            return []

    def _intact_latest(self) -> Version | None:
        numbers = self.numbers()
        try:
            return self.version(numbers[0]) if numbers else None
        except ArtifactError:
            return None  # damaged: whatever it held, what comes now is another version
