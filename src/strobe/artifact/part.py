"""Distributed artifacts: several processes add parts, one finishes.

    <collection>/parts/<hash of the distributed id>/<token>.json    a manifest; its objects are in the store

A part is whole or not there. Whoever finishes merges the parts that are there by then.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from strobe.artifact.atomic import replace_file, token
from strobe.artifact.manifest import Manifest
from strobe.errors import ArtifactError

#: parts that nobody has finished are given up after this long
_FORGOTTEN_S = 7 * 24 * 3600.0


class Parts:
    """The parts of one distributed artifact in a collection's directory."""

    def __init__(self, collection: Path, distributed_id: str) -> None:
        import hashlib

        # A hash, because the id may be anything, such as a group's name.
        name = hashlib.sha1(distributed_id.encode(), usedforsecurity=False).hexdigest()
        self.path = collection / "parts" / name

    def add(self, manifest: Manifest) -> None:
        """Add what one process contributes; its contents are in the store."""
        # The time orders parts for people; merging does not depend on it.
        replace_file(self.path / f"{time.time_ns():020d}-{token()}.json", manifest.encode())

    def merge(self, algorithm: str) -> Manifest:
        """Return all parts as one; ArtifactError if two have different contents for a path."""
        merged = Manifest(algorithm=algorithm)
        for path in _part_files(self.path):
            for entry in Manifest.decode(path.read_bytes(), algorithm=algorithm):
                known = merged.entries.get(entry.path)
                if known is not None and (known.digest, known.ref) != (entry.digest, entry.ref):
                    raise ArtifactError(f"two processes added different contents as {entry.path!r}")
                merged.entries[entry.path] = entry
        return merged

    def remove(self) -> None:
        """Remove the parts, once they are in a version."""
        shutil.rmtree(self.path, ignore_errors=True)


def iter_part_manifests(collection: Path, *, grace_s: float) -> Iterator[Manifest]:
    """Yield the parts that may still be finished; older ones are removed."""
    deadline = time.time() - max(grace_s, _FORGOTTEN_S)
    for directory in (collection / "parts").glob("*"):
        for path in _part_files(directory):
            if path.stat().st_mtime < deadline:
                path.unlink(missing_ok=True)
            else:
                yield Manifest.decode(path.read_bytes())


def _part_files(directory: Path) -> list[Path]:
    return sorted(directory.glob("*.json"))
