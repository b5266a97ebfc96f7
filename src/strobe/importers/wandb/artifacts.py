"""Artifacts in a `.wandb` file: what they hold, and where on this machine it lies.

An offline client leaves the contents in its staging directory and writes their paths into the file. They are taken only
if they have the digest that the manifest says: a file that was changed since, or that somebody else's `.wandb` file
points at, is none of the artifact's.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from strobe.artifact.digest import MD5, of_file
from strobe.artifact.name import LATEST, entry_path
from strobe.errors import UsageError
from strobe.importers.model import LoggedArtifact, Report
from strobe.importers.protobuf import Message, WireError
from strobe.importers.wandb.fields import Artifact, Entry
from strobe.importers.wandb.values import parse_json

#: types that wandb keeps for itself, for each table that is logged for one; the table itself comes with its row
_OWN_TYPE = re.compile(r"run_table|wandb-.*")


class ArtifactReader:
    """Reads artifact records."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def contents(self, record: Message) -> dict[str, Path]:
        """Return path in the artifact → file, for what is here and unchanged."""
        return {path: source for path, source in self._sources(record).items() if source is not None}

    def read(self, record: Message, at_ns: int) -> LoggedArtifact | None:
        """Return the artifact, None if it is wandb's own or not all of it is here, which is noted."""
        name, kind = record.text(Artifact.NAME), record.text(Artifact.TYPE)
        if _OWN_TYPE.fullmatch(kind):
            return None
        sources = self._sources(record)
        missing = [path for path, source in sources.items() if source is None]
        if missing:
            self._report.note(
                f"artifact {name!r} was not brought over: {len(missing)} of its {len(sources)} files are not on this "
                f"machine as they were, {missing[0]!r} for one"
            )
            return None
        return LoggedArtifact(
            time_ns=at_ns,
            name=name,
            type=kind,
            description=record.text(Artifact.DESCRIPTION) or None,
            metadata=_metadata(record.text(Artifact.METADATA)),
            aliases=[alias for alias in record.texts(Artifact.ALIASES) if alias != LATEST],
            tags=record.texts(Artifact.TAGS),
            files={path: source for path, source in sources.items() if source is not None},
            references=self._references(record),
        )

    def _sources(self, record: Message) -> dict[str, Path | None]:
        found: dict[str, Path | None] = {}
        for entry in _entries(record):
            if Entry.REFERENCE not in entry:
                path = entry.text(Entry.PATH)
                try:
                    path = entry_path(path)
                except UsageError as error:
                    self._report.note(f"an artifact's file was left out: {error}")
                    continue
                source = Path(entry.text(Entry.LOCAL_PATH))
                found[path] = source if _has_digest(source, entry.text(Entry.DIGEST)) else None
        return found

    def _references(self, record: Message) -> dict[str, tuple[str, str, int]]:
        return {
            entry.text(Entry.PATH): (
                entry.text(Entry.REFERENCE),
                entry.text(Entry.DIGEST),
                entry.integer(Entry.SIZE),
            )
            for entry in _entries(record)
            if Entry.REFERENCE in entry
        }


def _entries(record: Message) -> list[Message]:
    manifest = record.message(Artifact.MANIFEST)
    return [] if manifest is None else list(manifest.messages(Artifact.CONTENTS))


def _has_digest(source: Path, digest: str) -> bool:
    try:
        with io.FileIO(source) as file:
            return of_file(file, MD5) == digest
    except (OSError, ValueError):  # gone, or no path at all
        return False


def _metadata(text: str) -> dict[str, Any]:
    try:
        found = parse_json(text) if text else {}
    except WireError:
        return {}
    return found if isinstance(found, dict) else {}
