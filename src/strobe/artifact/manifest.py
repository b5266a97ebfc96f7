"""What an artifact holds: entries by path, in the one form that wandb's manifests have.

    {"version": 1, "storagePolicy": "wandb-storage-policy-v1", "storagePolicyConfig": {"storageLayout": "V2"},
     "contents": {"a.txt": {"digest": "<base64>", "size": 6}, "raw": {"digest": "…", "ref": "s3://…", "size": 0}}}

The artifact's digest is computed from paths and digests alone. No disk, no store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from strobe.artifact import digest as digests
from strobe.artifact.name import entry_path
from strobe.artifact.source import Source, stored
from strobe.errors import ArtifactError, UsageError


class Entry:
    """One file, or one reference to something outside."""

    def __init__(
        self,
        path: str,
        digest: str | None = None,
        *,
        size: int | None = None,
        ref: str | None = None,
        extra: Mapping[str, Any] | None = None,
        algorithm: str = digests.MD5,
        source: Source | None = None,
    ) -> None:
        self.path = path
        self.ref = ref
        self.extra = dict(extra or {})
        self.algorithm = algorithm
        self.source = source
        self._size = size
        self._digest = digest
        #: set by the artifact that was read from a store: how to bring this entry to a directory, and where it lies
        self.fetch: Callable[[Entry, Path | None], Path] | None = None
        self.object_path: Path | None = None

    def __repr__(self) -> str:
        return f"Entry({self.path!r}, size={self.size}, ref={self.ref!r})"

    @property
    def name(self) -> str:
        """The path, under the name that wandb's files have."""
        return self.path

    @property
    def digest(self) -> str:
        """The content's digest in base64; reads a large file that was only held until now."""
        if self._digest is None:
            if self.source is None:
                raise ArtifactError(f"entry {self.path!r} has neither digest nor content")
            self._digest = self.source.digest(self.algorithm)
        return self._digest

    @property
    def size(self) -> int | None:
        return self.source.size if self.source is not None else self._size

    @property
    def local_path(self) -> str | None:
        """Where a draft's content is at the moment; None for references and stored versions."""
        return str(self.source.path) if self.source is not None else None

    def download(self, root: str | Path | None = None, skip_cache: bool | None = None) -> str:
        """Bring the entry to `root` (as `Artifact.download` does) and return its path."""
        if self.fetch is None:
            raise ArtifactError(f"{self.path!r} belongs to an artifact that was not logged; log it first")
        return str(self.fetch(self, Path(root) if root is not None else None))

    def ref_target(self) -> str:
        """Return the address that a reference entry stands for."""
        if self.ref is None:
            raise UsageError(f"{self.path!r} is a file, not a reference")
        return self.ref

    def copied(self, path: str | None = None) -> Entry:
        """Return an entry for a draft with the content of this stored one, which is shared and not copied."""
        if self.ref is None and self.object_path is None:
            raise UsageError(f"{self.path!r} belongs to an artifact that was not logged; log it first")
        source = stored(self.object_path, self.digest) if self.object_path is not None else None
        return Entry(
            path or self.path,
            self.digest,
            size=self.size,
            ref=self.ref,
            extra=self.extra,
            algorithm=self.algorithm,
            source=source,
        )

    def to_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"digest": self.digest}
        if self.ref is not None:
            fields["ref"] = self.ref
        if self.size is not None:
            fields["size"] = self.size
        extra = dict(self.extra)
        if self.algorithm != digests.MD5:
            extra["alg"] = self.algorithm
        if extra:
            fields["extra"] = extra
        return fields

    @classmethod
    def from_json(cls, path: str, fields: Mapping[str, Any]) -> Entry:
        extra = dict(fields.get("extra") or {})
        return cls(
            entry_path(path),
            fields["digest"],
            size=fields.get("size"),
            ref=fields.get("ref"),
            algorithm=extra.pop("alg", digests.MD5),
            extra=extra,
        )


class Manifest:
    """Entries by path."""

    def __init__(self, entries: Mapping[str, Entry] | None = None, *, algorithm: str = digests.MD5) -> None:
        self.entries: dict[str, Entry] = dict(entries or {})
        self.algorithm = algorithm

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, path: object) -> bool:
        return path in self.entries

    def add(self, entry: Entry, *, overwrite: bool = False) -> Entry:
        """Add an entry; the same path with another content is a UsageError unless `overwrite`."""
        existing = self.entries.get(entry.path)
        if existing is not None and not overwrite:
            if (existing.digest, existing.ref) == (entry.digest, entry.ref):
                return existing
            raise UsageError(f"artifact has another content at {entry.path!r} already; pass overwrite=True")
        self.entries[entry.path] = entry
        return entry

    def under(self, prefix: str) -> list[Entry]:
        """Return the entry at `prefix`, or those below it."""
        if found := self.entries.get(prefix):
            return [found]
        return [entry for path, entry in self.entries.items() if path.startswith(f"{prefix}/")]

    def merged(self, newer: Manifest) -> Manifest:
        """Return this manifest with the entries of `newer` over it."""
        return Manifest({**self.entries, **newer.entries}, algorithm=newer.algorithm)

    def check_tree(self) -> None:
        """Raise UsageError if one entry's path is a directory of another's."""
        for path in self.entries:
            parent = path
            while "/" in parent:
                parent = parent.rpartition("/")[0]
                if parent in self.entries:
                    raise UsageError(f"{parent!r} can't be a file of the artifact beside {path!r}")

    @property
    def digest(self) -> str:
        return digests.of_manifest(((entry.path, entry.digest) for entry in self), self.algorithm)

    @property
    def size(self) -> int:
        return sum(entry.size or 0 for entry in self)

    def to_manifest_json(self) -> dict[str, Any]:
        """Return the manifest as the JSON object that wandb's client and server exchange."""
        return {
            "version": 1,
            "storagePolicy": "wandb-storage-policy-v1",
            "storagePolicyConfig": {"storageLayout": "V2"},
            "contents": {entry.path: entry.to_json() for entry in sorted(self, key=lambda entry: entry.path)},
        }

    def encode(self) -> bytes:
        return msgspec.json.encode(self.to_manifest_json())

    @classmethod
    def decode(cls, content: bytes, *, algorithm: str = digests.MD5) -> Manifest:
        """Read a manifest; anything that isn't one is an ArtifactError."""
        try:
            contents = msgspec.json.decode(content)["contents"]
            entries = [Entry.from_json(path, fields) for path, fields in contents.items()]
        except (msgspec.DecodeError, KeyError, TypeError, AttributeError, UsageError) as exc:
            raise ArtifactError(f"this is not an artifact manifest: {exc}") from exc
        return cls({entry.path: entry for entry in entries}, algorithm=algorithm)
