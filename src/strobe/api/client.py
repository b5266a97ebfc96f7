"""`strobe.Api`: runs, projects and artifacts by wandb's names, of a home or of a server.

    strobe.Api()                      where `init()` sends runs: the server of the settings, else the home
    strobe.Api("https://strobe.lab")  that server
    strobe.Api(home="~/runs")         that home; needs no server, no agent and no account

Nothing is cached between calls: each asks the disk or the server.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strobe.api.origin import open_source
from strobe.api.resolve import resolve
from strobe.api.run import Run
from strobe.api.runs import Runs
from strobe.errors import ArtifactError, RunNotFound, UsageError
from strobe.home import Home, RunPath

if TYPE_CHECKING:
    from strobe.api.project import Project
    from strobe.api.user import User
    from strobe.artifact import Artifact, Collection


class Api:
    """Runs, for reading. `overrides` may hold `entity` and `project`, used where a path leaves them out."""

    def __init__(
        self,
        home: Home | str | os.PathLike[str] | None = None,
        overrides: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
    ) -> None:
        if isinstance(home, Mapping):  # wandb.Api({"entity": …}) has the overrides first
            home, overrides = None, home
        self.settings: dict[str, Any] = {"entity": None, "project": None, **(overrides or {})}
        base_url = base_url or self.settings.get("base_url")
        self._source = open_source(home, base_url=base_url, api_key=api_key, timeout_s=timeout)

    def __repr__(self) -> str:
        return f"<Api {self._source.place}>"

    @property
    def home(self) -> Home:
        """The home that is read; UsageError if it is a server."""
        from strobe.api.home_source import HomeSource

        if isinstance(self._source, HomeSource):
            return self._source.home
        raise UsageError(f"{self._source.place} is read, not a home; Api(home=…) reads one")

    @property
    def default_entity(self) -> str:
        return self.settings["entity"] or self._source.default_entity

    @property
    def viewer(self) -> User:
        """Who is asking: the user of this machine, or the owner of the key."""
        from strobe.api.user import User

        return User(username=self._source.user, entity=self.default_entity)

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
        """Return runs of "entity/project", "project" or, with None, of the whole home or the entity on a server.

        `filters` is the simple part of wandb's: see `strobe.api.filter`. A server is asked for `per_page` runs at a
        time, as they are needed; `include_sweeps` and `lazy` change nothing.
        """
        entity, project = self._split(path)
        listing = self._source.runs(
            entity, project, filters=filters, order=order or "+created_at", per_page=max(1, per_page)
        )
        return Runs(listing)

    def run(self, path: str) -> Run:
        """Return one run: "entity/project/id", "project/id", an id or its start, a name, or "latest"."""
        return resolve(self._source, path, entity=self.settings["entity"], project=self.settings["project"])

    def restore(self, path: str) -> Run:
        """Bring a deleted run back, and return it."""
        return Run(self._source.restore(path))

    def from_path(self, path: str) -> Run | Project:
        """Return what a path names: a project or a run."""
        parts = [part for part in path.strip("/").split("/") if part]
        if len(parts) == 2 and self._source.record(RunPath(self.default_entity, *parts)) is None:
            return self.project(parts[1], parts[0])
        return self.run(path)

    # --- projects

    def projects(self, entity: str | None = None, per_page: int = 200) -> list[Project]:
        """Return the projects that there are, by name; in a home, those that have runs."""
        from strobe.api.project import Project

        found = self._source.projects(entity or self.settings["entity"])
        return [Project(self._source, *name) for name in found]

    def project(self, name: str, entity: str | None = None) -> Project:
        projects = self.projects(entity)
        for project in projects:
            if project.name == name:
                return project
        known = ", ".join(project.name for project in projects) or "none"
        raise RunNotFound(f"there is no project {name!r} in {self._source.place}; it has {known}")

    def create_project(self, name: str, entity: str | None = None) -> Project:
        """Return the project; a server makes it now, on disk it comes into being with its first run."""
        from strobe.api.project import Project

        project = Project(self._source, entity or self.default_entity, name)
        self._source.create_project(project.entity, name)
        return project

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
        return self._source.artifacts.find(name, type, **self._place)

    def artifacts(
        self, type_name: str | None, name: str, per_page: int = 50, tags: list[str] | None = None
    ) -> list[Artifact]:
        """Return all versions of an artifact (those with all of `tags`), the newest first."""
        found = self._source.artifacts.versions(type_name, name, **self._place)
        return [artifact for artifact in found if set(tags or ()) <= set(artifact.tags)]

    artifact_versions = artifacts

    def artifact_exists(self, name: str, type: str | None = None) -> bool:
        try:
            self.artifact(name, type)
        except ArtifactError:
            return False
        return True

    def artifact_types(self, project: str | None = None) -> list[str]:
        """Return the types of artifacts that a project has."""
        entity, project = self._split(project)
        return self._source.artifacts.types(entity=entity or self.default_entity, project=project)

    def artifact_collections(self, project_name: str, type_name: str, per_page: int = 50) -> list[Collection]:
        """Return the artifacts of a type that a project has, each with all its versions."""
        entity, project = self._split(project_name)
        return self._source.artifacts.collections(entity=entity, project=project, type=type_name)
