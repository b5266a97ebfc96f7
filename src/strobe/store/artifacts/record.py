"""What is said about artifacts: plain values, as callers get them."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from strobe.wire.artifact import Version as Version

Role = Literal["logged", "used"]


class TypeCount(msgspec.Struct, frozen=True):
    """A type of artifacts, and how many collections have it."""

    name: str
    num_collections: int


class Collection(msgspec.Struct, frozen=True, kw_only=True):
    """All versions of one name."""

    entity: str
    project: str
    name: str
    type: str
    description: str
    created_ns: int
    num_versions: int
    #: of the highest version that there is
    latest: int | None
    #: of all versions, as if they shared nothing
    size: int


class DraftFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a sender says about a version, besides its manifest."""

    type: str
    name: str
    aliases: list[str] = []
    tags: list[str] = []
    description: str = ""
    metadata: dict[str, Any] = {}
    ttl_s: int | None = None
    use_as: str | None = None
    source: str | None = None
    step: int | None = None
    #: when it was logged, if that was earlier
    created_ns: int | None = None
    #: the sender's own name of this version: the same again is the same version
    origin: str | None = None


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """A content that the project does not have; `path` is one entry that has it."""

    path: str
    digest: str
    algorithm: str
    size: int


class EntryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a version: a file, or a reference to something outside."""

    path: str
    digest: str
    algorithm: str
    size: int | None
    ref: str | None
    #: none for references
    sha256: str | None


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A version that is not committed yet."""

    id: str
    entity: str
    project: str
    name: str
    type: str
    digest: str
    missing: list[Missing]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What happens when a draft is committed."""

    aliases: list[str] = []
    origin: str | None = None


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """A run that logged or used a version."""

    run: str
    role: Role
    use_as: str | None
    time_ns: int
