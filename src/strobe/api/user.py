"""Who: the owner of a home, or of a run in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class User:
    """A person. A local home has no accounts, so this is a name."""

    username: str
    entity: str

    @property
    def name(self) -> str:
        return self.username

    @property
    def teams(self) -> list[str]:
        return [self.entity]
