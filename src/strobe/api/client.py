"""`strobe.Api`: the runs, projects and artifacts of a home, by wandb's names.

Reads a local home; it needs no server, no agent and no account. Nothing is cached between calls: each asks the disk.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strobe.api.resolve import resolve
from strobe.api.run import Run
from strobe.api.runs import Runs
from strobe.errors import RunNotFound, UsageError
from strobe.home import LOCAL_ENTITY, Home, RunPath

if TYPE_CHECKING:
    from strobe.api.project import Project
    from strobe.api.user import User
    from strobe.artifact import Artifact, Collection


class Api:
    """A home, for reading. `overrides` may hold `entity` and `project`, used where a path leaves them out."""

    def __init__(
        self,
        home: Home | str | os.PathLike[str] | None = None,
        overrides: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        api_key: str | None = None,
    ) -> None:
        if isinstance(home, Mapping):  # wandb.Api({"entity": …}) has the overrides first
            home, overrides = None, home
        if home is None:
            from strobe.settings import resolve as resolve_settings

            home = resolve_settings().home
        self.home = home if isinstance(home, Home) else Home(Path(home).expanduser())
        self.settings: dict[str, Any] = {"entity": None, "project": None, **(overrides or {})}

    def __repr__(self) -> str:
        return f"<Api {self.home.path}>"

    @property
    def default_entity(self) -> str:
        return self.settings["entity"] or LOCAL_ENTITY

    @property
    def viewer(self) -> User:
        """Who is asking: on a local home, the user of this machine."""
        import getpass

        from strobe.api.user import User

        try:
            username = getpass.getuser()
        except (OSError, KeyError, ImportError):  # a container may run as a number without a name
            username = LOCAL_ENTITY
        return User(username=username, entity=self.default_entity)

    def flush(self) -> None:
        """Do nothing: there is no cache. Here because scripts for wandb call it."""

    # --- runs

    def runs(
        self,
        path: str | None = None,
        filters: Mapping[str, Any] | None = None,
        order: str = "+created_at",
        per_page: int = 50,
        include_sweeps: bool = True,
        lazy: bool = True,
    ) -> Runs:
        """Return runs of "entity/project", "project" or, with None, of the whole home.

        `filters` is the simple part of wandb's: see `strobe.api.filter`. `per_page`, `include_sweeps` and `lazy` change
        nothing on a local home: runs are read as they are needed.
        """
        entity, project = self._split(path)
        found = (Run(self.home, run_dir) for run_dir in self.home.iter_runs(entity=entity, project=project))
        return Runs(found, filters=filters, order=order)

    def run(self, path: str) -> Run:
        """Return one run: "entity/project/id", "project/id", an id or its start, a name, or "latest"."""
        return resolve(self.home, path, entity=self.settings["entity"], project=self.settings["project"])

    def from_path(self, path: str) -> Run | Project:
        """Return what a path names: a project or a run."""
        parts = [part for part in path.strip("/").split("/") if part]
        if len(parts) == 2 and not self.home.run_dir(RunPath(self.default_entity, *parts)).exists():
            return self.project(parts[1], parts[0])
        return self.run(path)

    # --- projects

    def projects(self, entity: str | None = None, per_page: int = 200) -> list[Project]:
        """Return the projects that have runs, by name."""
        from strobe.api.project import list_projects

        return list_projects(self.home, entity or self.settings["entity"])

    def project(self, name: str, entity: str | None = None) -> Project:
        for project in self.projects(entity):
            if project.name == name:
                return project
        known = ", ".join(project.name for project in self.projects(entity)) or "none"
        raise RunNotFound(f"there is no project {name!r} in {self.home.path}; it has {known}")

    def create_project(self, name: str, entity: str | None = None) -> Project:
        """Return the project; on disk it comes into being with its first run."""
        from strobe.api.project import Project

        return Project(self.home, entity or self.default_entity, name)

    def _split(self, path: str | None) -> tuple[str | None, str | None]:
        parts = [part for part in (path or "").split("/") if part]
        if len(parts) > 2:
            raise UsageError(f"{path!r} names more than a project; write entity/project, or use Api.run() for a run")
        entity = parts[0] if len(parts) == 2 else self.settings["entity"]
        return entity, parts[-1] if parts else self.settings["project"]

    # --- artifacts

    @property
    def _place(self) -> dict[str, Any]:
        return {"entity": self.default_entity, "project": self.settings["project"]}

    def artifact(self, name: str, type: str | None = None) -> Artifact:
        """Return an artifact version: [[entity/]project/]name[:version or alias]; latest if neither is given."""
        from strobe.artifact import store

        return store.find(self.home, name, type, **self._place)

    def artifacts(
        self, type_name: str | None, name: str, per_page: int = 50, tags: list[str] | None = None
    ) -> list[Artifact]:
        """Return all versions of an artifact (those with all of `tags`), the newest first."""
        from strobe.artifact import store

        found = store.versions(self.home, type_name, name, **self._place)
        return [artifact for artifact in found if set(tags or ()) <= set(artifact.tags)]

    artifact_versions = artifacts

    def artifact_exists(self, name: str, type: str | None = None) -> bool:
        from strobe.artifact import store

        return store.exists(self.home, name, type, **self._place)

    def artifact_types(self, project: str | None = None) -> list[str]:
        """Return the types of artifacts that a project has."""
        from strobe.artifact import store

        entity, project = self._split(project)
        return store.types(self.home, entity=entity or self.default_entity, project=project)

    def artifact_collections(self, project_name: str, type_name: str, per_page: int = 50) -> list[Collection]:
        """Return the artifacts of a type that a project has, each with all its versions."""
        from strobe.artifact import store

        entity, project = self._split(project_name)
        return store.collections(self.home, entity=entity, project=project, type=type_name)
