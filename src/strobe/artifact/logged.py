"""Reading a logged artifact: its entries, its files brought to a directory, who made and used it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from strobe.artifact.contents import StrPath
from strobe.artifact.details import Details
from strobe.artifact.manifest import Entry, Manifest
from strobe.artifact.name import entry_path
from strobe.artifact.objects import Objects
from strobe.errors import ArtifactError, UsageError
from strobe.home import RunPath


class Logged(Details):
    """What a version offers; a draft answers with ArtifactNotLogged."""

    _is_loaded = False

    @property
    def manifest(self) -> Manifest:
        """All entries by path; a stored version's are read when first needed."""
        if self._stored is not None and not self._is_loaded:
            where = self._stored
            self._manifest = where.collection.manifest(where.version.number)
            objects = self._objects()
            for entry in self._manifest:
                entry.fetch = self._fetch
                if entry.ref is None:
                    entry.object_path = objects.path(entry.digest, entry.algorithm)
            self._is_loaded = True
        return self._manifest

    # --- reading

    def get_entry(self, name: StrPath) -> Entry:
        """Return the entry at a path; KeyError if there is none."""
        path = entry_path(name)
        if path not in self.manifest:
            raise KeyError(f"there is no entry {path!r} in artifact {self.name!r}")
        return self.manifest.entries[path]

    def get_path(self, name: StrPath) -> Entry:
        """Return the entry at a path (the older name of `get_entry`)."""
        return self.get_entry(name)

    def get(self, name: str) -> Any:
        """Return the Table, Image or other object that was added as `name`; None if there is none."""
        from strobe.artifact import media

        self.stored("content")
        entry = media.find_record(self.manifest, entry_path(name))
        if entry is None:
            return None
        root = self._root(None)
        content = self._fetch(entry, root).read_bytes()
        return media.load(content, root, self.manifest, lambda part: self._fetch(part, root))

    def files(self, names: list[str] | None = None, per_page: int = 50, start: str | None = None) -> list[Entry]:
        """Return all entries, or those named."""
        return [entry for entry in self.manifest if names is None or entry.path in names]

    def file(self, root: StrPath | None = None) -> str:
        """Download the only file of the artifact and return its path."""
        if len(self.manifest) != 1:
            raise UsageError(f"{self.name} holds {len(self.manifest)} files, not one; use download()")
        return str(self._fetch(next(iter(self.manifest)), self._root(root)))

    def download(
        self,
        root: StrPath | None = None,
        allow_missing_references: bool = False,
        skip_cache: bool | None = None,
        path_prefix: StrPath | None = None,
        multipart: bool | None = None,
    ) -> str:
        """Bring the files (those under `path_prefix`) to `root`, default `./artifacts/<name>:<version>`.

        Every file is checked against its digest; what is there already with the right content is left alone.
        """
        from strobe.artifact.fetching import fetch

        place, objects = self._root(root), self._objects()
        place.mkdir(parents=True, exist_ok=True)
        chosen = list(self.manifest) if path_prefix is None else self._starting_with(path_prefix)
        for entry in chosen:
            fetch(entry, objects, place, allow_missing_references=allow_missing_references)
        return str(place)

    def checkout(self, root: StrPath | None = None) -> str:
        """Make `root` hold exactly this version: files that are not in it are removed."""
        from strobe.artifact.tree import iter_files

        place = Path(self.download(root))
        for relative, path in list(iter_files(place, enters=lambda directory: not directory.is_symlink())):
            if relative not in self.manifest:
                path.unlink()
        return str(place)

    def verify(self, root: StrPath | None = None) -> None:
        """Raise ArtifactError unless `root` holds exactly what was logged."""
        from strobe.artifact.fetching import check
        from strobe.artifact.tree import iter_files

        self.stored("content")
        place = self._root(root)
        check(self.manifest, place)
        for relative, _ in iter_files(place):
            if relative not in self.manifest:
                raise ArtifactError(f"{place / relative} is not part of {self.name}; remove it or use checkout()")

    # --- who made and used it

    def logged_by(self) -> RunPath | None:
        """Return the run that logged this version."""
        run = self.stored("run").version.logged_by
        return RunPath.parse(run) if run is not None else None

    def used_by(self) -> list[RunPath]:
        """Return the runs that used this version, the first first."""
        where = self.stored("used_by")
        return [RunPath.parse(use.by) for use in where.collection.uses(where.version.number)]

    def json_encode(self) -> dict[str, Any]:
        """Return what stands for the artifact in a config or a row."""
        return {
            "_type": "artifactVersion",
            "_version": "v0",
            "id": self.id,
            "version": self.source_version,
            "sequenceName": self.source_name.partition(":")[0],
            "usedAs": self.use_as,
        }

    # --- within

    def _objects(self) -> Objects:
        where = self.stored("content")
        return where.collection.contents(where.version.number)

    def _root(self, root: StrPath | None) -> Path:
        from strobe.artifact.fetching import default_root

        return Path(root) if root is not None else default_root(self.name)

    def _fetch(self, entry: Entry, root: Path | None) -> Path:
        from strobe.artifact.fetching import fetch

        return fetch(entry, self._objects(), self._root(root))

    def _starting_with(self, prefix: StrPath) -> list[Entry]:
        text = os.fspath(prefix).replace(os.sep, "/")
        return [entry for entry in self.manifest if entry.path.startswith(text)]
