"""A project: the runs that lie under one name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strobe.api.record import Source
    from strobe.api.runs import Runs


@dataclass(frozen=True, slots=True)
class Project:
    """A project of a home or a server. It comes into being with its first run."""

    source: Source
    entity: str
    name: str

    @property
    def id(self) -> str:
        return f"{self.entity}/{self.name}"

    @property
    def path(self) -> list[str]:
        return [self.entity, self.name]

    @property
    def url(self) -> str | None:
        """Where the project is to be looked at; None in a home, which serves no pages."""
        return self.source.project_url(self.entity, self.name)

    def num_runs(self) -> int:
        return len(self.runs())

    def runs(self) -> Runs:
        """Return the runs, the oldest first."""
        from strobe.api.runs import Runs

        return Runs(self.source.runs(self.entity, self.name, filters=None, order="+created_at", per_page=200))
