"""The small JSON files of the store, one struct each, and how they are read and written.

`Version` never changes once published; what a person may change later is in `Edits`, and where aliases were moved to
by hand is in `AliasEdit`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from strobe.artifact.atomic import replace_file
from strobe.errors import ArtifactError, UsageError


class CollectionFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`collection.json`: what all versions of a name have in common."""

    name: str
    type: str
    created_ns: int


class Version(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`v3/version.json`: what is true of a version for ever."""

    number: int
    id: str
    digest: str
    created_ns: int
    algorithm: str = "MD5"
    size: int = 0
    num_files: int = 0
    #: "entity/project/id" of the run that logged it, and the step it was at
    logged_by: str | None = None
    step: int | None = None
    #: given when it was logged; see `Collection.resolve` for how they lose to later claims
    aliases: list[str] = []
    #: "entity/project/name:v3" of the version that this one is a link to
    source: str | None = None
    use_as: str | None = None
    description: str | None = None
    #: JSON text, because JSON by msgspec has no NaN and metrics in metadata do
    metadata: str = "{}"
    tags: list[str] = []
    ttl_s: float | None = None


class Edits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`v3/edits.json`: replaces those fields of the version."""

    updated_ns: int
    description: str | None = None
    metadata: str = "{}"
    tags: list[str] = []
    ttl_s: float | None = None


class AliasEdit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`aliases/<alias>.json`: where the alias was put by hand; None is nowhere.

    `after` is the highest version there was: only versions born later with the same alias win over this.
    """

    version: int | None
    after: int
    time_ns: int


class Use(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`v3/used/….json` and `v3/links/….json`: who took this version."""

    by: str
    time_ns: int
    use_as: str | None = None


_Record = TypeVar("_Record", bound=msgspec.Struct)

# Known to msgspec from here on, which crashes when threads are the first to decode a type at the same moment.
for _kind in (CollectionFacts, Version, Edits, AliasEdit, Use):
    msgspec.json.Decoder(_kind)


def write(path: Path, record: msgspec.Struct) -> None:
    """Write a record so that readers see the old one or the new one."""
    replace_file(path, msgspec.json.encode(record))


def read(path: Path, kind: type[_Record]) -> _Record:
    """Read a record; FileNotFoundError if there is none, ArtifactError if it's damaged."""
    content = path.read_bytes()
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.DecodeError as exc:
        raise ArtifactError(f"{path} is damaged ({exc}); log the artifact again") from exc


def read_if_there(path: Path, kind: type[_Record]) -> _Record | None:
    """Read a record, or return None if there is none."""
    try:
        return read(path, kind)
    except FileNotFoundError:
        return None


def dump_metadata(metadata: object) -> str:
    """Return metadata as JSON text; UsageError if it isn't a dict or holds what JSON can't."""
    import json

    if metadata is None:
        return "{}"
    if not isinstance(metadata, dict):
        raise UsageError(f"artifact metadata must be a dict, got {type(metadata).__name__}")
    try:
        return json.dumps(metadata, default=_plain)
    except (TypeError, ValueError) as exc:
        raise UsageError(f"artifact metadata can't be stored: {exc}") from exc


def load_metadata(text: str) -> dict[str, Any]:
    """Return what `dump_metadata` was given."""
    import json

    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    for convert in ("tolist", "item", "isoformat"):  # numpy and torch values, dates
        if callable(method := getattr(value, convert, None)):
            return method()
    raise TypeError(f"{type(value).__name__} is not a JSON value")
