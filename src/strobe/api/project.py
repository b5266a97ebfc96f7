"""A project: the runs that lie under one name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strobe.home import Home

if TYPE_CHECKING:
    from strobe.api.runs import Runs


@dataclass(frozen=True, slots=True)
class Project:
    """A project of a home. It comes into being with its first run."""

    home: Home
    entity: str
    name: str

    @property
    def id(self) -> str:
        return f"{self.entity}/{self.name}"

    @property
    def path(self) -> list[str]:
        return [self.entity, self.name]

    @property
    def url(self) -> None:
        """A local home serves no pages."""

    def num_runs(self) -> int:
        return sum(1 for _ in self.home.iter_runs(entity=self.entity, project=self.name))

    def runs(self) -> Runs:
        """Return the runs, the oldest first."""
        from strobe.api.run import Run
        from strobe.api.runs import Runs

        found = (Run(self.home, run_dir) for run_dir in self.home.iter_runs(entity=self.entity, project=self.name))
        return Runs(found, filters=None, order="+created_at")


def list_projects(home: Home, entity: str | None = None) -> list[Project]:
    """Return the projects that have runs, by name."""
    names = {(run_dir.run_path.entity, run_dir.run_path.project) for run_dir in home.iter_runs(entity=entity)}
    return [Project(home, *name) for name in sorted(names)]
