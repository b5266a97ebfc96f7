"""A version of an artifact, as a server tells of it and a reader hears it."""

from __future__ import annotations

from typing import Any

import msgspec


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """A committed version."""

    #: names it whatever its collection is
    id: str
    entity: str
    project: str
    name: str
    type: str
    number: int
    digest: str
    algorithm: str
    size: int
    num_files: int
    aliases: list[str]
    tags: list[str]
    description: str
    metadata: dict[str, Any]
    ttl_s: int | None
    use_as: str | None
    #: entity/project/name:v3 of the version that it is a link to
    source: str | None
    #: entity/project/id of the run that logged it, and the step that it was at
    logged_by: str | None
    step: int | None
    created_ns: int
    updated_ns: int
    deleted_ns: int | None

    @property
    def qualified_name(self) -> str:
        return f"{self.entity}/{self.project}/{self.name}:v{self.number}"
