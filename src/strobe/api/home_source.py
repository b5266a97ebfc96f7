"""A home as a source of runs: everything is found by looking at directories, nothing is kept between questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from strobe.api.field import check_field, lookup, named_fields, place, split_order
from strobe.api.filter import compile_filter
from strobe.api.home_record import HomeRecord
from strobe.api.run import Run
from strobe.home import LOCAL_ENTITY, Home, RunPath

if TYPE_CHECKING:
    from strobe.artifact import Artifact, Collection


class HomeListing:
    """Runs of a home, chosen and put in order here."""

    def __init__(
        self, home: Home, entity: str | None, project: str | None, filters: Mapping[str, Any] | None, order: str
    ) -> None:
        self._home = home
        self._where = {"entity": entity, "project": project}
        self._matches = compile_filter(filters)
        self._order = order
        check_field(split_order(order)[1])
        for name in named_fields(filters):
            check_field(name)

    def __iter__(self) -> Iterator[HomeRecord]:
        records = (HomeRecord(self._home, run_dir) for run_dir in self._home.iter_runs(**self._where))
        runs = [(Run(record), record) for record in records]
        chosen = [pair for pair in runs if self._matches(partial(lookup, pair[0]))]
        return iter([record for _, record in sorted(chosen, key=lambda pair: place(pair[0], self._order))])

    def count(self) -> None:
        return None


class HomeArtifacts:
    """The artifacts of a home."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def find(self, name: str, type: str | None, *, entity: str, project: str | None) -> Artifact:
        from strobe.artifact import store

        return store.find(self._home, name, type, entity=entity, project=project)

    def versions(self, type: str | None, name: str, *, entity: str, project: str | None) -> list[Artifact]:
        from strobe.artifact import store

        return store.versions(self._home, type, name, entity=entity, project=project)

    def types(self, *, entity: str, project: str | None) -> list[str]:
        from strobe.artifact import store

        return store.types(self._home, entity=entity, project=project)

    def collections(self, *, entity: str | None, project: str | None, type: str | None) -> list[Collection]:
        from strobe.artifact import store

        return store.collections(self._home, entity=entity, project=project, type=type)


class HomeSource:
    """A home, for reading."""

    default_entity = LOCAL_ENTITY
    list_command = "strobe run ls"
    fill_command = "strobe demo --no-ui"

    def __init__(self, home: Home) -> None:
        self.home = home
        self.artifacts = HomeArtifacts(home)

    @property
    def place(self) -> str:
        return str(self.home.path)

    @property
    def user(self) -> str:
        import getpass

        try:
            return getpass.getuser()
        except (OSError, KeyError, ImportError):  # a container may run as a number without a name
            return LOCAL_ENTITY

    def runs(
        self,
        entity: str | None,
        project: str | None,
        *,
        filters: Mapping[str, Any] | None,
        order: str,
        per_page: int,
    ) -> HomeListing:
        return HomeListing(self.home, entity, project, filters, order)

    def candidates(self, text: str, entity: str | None, project: str | None) -> list[HomeRecord]:
        return [HomeRecord(self.home, run_dir) for run_dir in self.home.iter_runs(entity=entity, project=project)]

    def record(self, path: RunPath) -> HomeRecord | None:
        run_dir = self.home.run_dir(path)
        return HomeRecord(self.home, run_dir) if run_dir.exists() else None

    def restore(self, reference: str) -> HomeRecord:
        from strobe.api import trash

        return HomeRecord(self.home, trash.restore(self.home, trash.find(self.home, reference)))

    def projects(self, entity: str | None) -> list[tuple[str, str]]:
        runs = (run_dir.run_path for run_dir in self.home.iter_runs(entity=entity))
        return sorted({(run.entity, run.project) for run in runs})

    def create_project(self, entity: str, name: str) -> None:
        """Do nothing: on disk a project comes into being with its first run."""

    def project_url(self, entity: str, name: str) -> None:
        """A home serves no pages."""
