"""The seam between what `strobe.Api` shows and where it comes from: a home on disk, or a server.

A `Source` finds runs, a `Record` is one of them; everything that people call (`Run`, `Runs`, `Project`, `File`) is
written once, over these. Protocols only: nothing here reads anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from strobe.home import RunDir, RunPath

if TYPE_CHECKING:
    from pathlib import Path

    from strobe.api.files import File
    from strobe.api.rows import Row
    from strobe.artifact import Artifact
    from strobe.artifact import Collection as ArtifactCollection
    from strobe.journal.digest import MetricDigest
    from strobe.journal.event import Alert, ArtifactUse, Event
    from strobe.journal.frame import Damage


class Attempted(Protocol):
    """One start of a run; a `strobe.journal.attempt.Attempt` is one."""

    @property
    def number(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def started_ns(self) -> int | None: ...
    @property
    def ended_ns(self) -> int | None: ...
    @property
    def from_step(self) -> int | None: ...
    @property
    def writers(self) -> Collection[str]:
        """The names of the processes that wrote in it."""

    @property
    def rejected(self) -> int: ...


class Recorded(Protocol):
    """What is recorded of a run but its rows; a `strobe.journal.Replay` is one."""

    @property
    def attributes(self) -> Mapping[str, Any]: ...
    @property
    def config(self) -> dict[str, Any]: ...
    @property
    def state(self) -> str: ...
    @property
    def ended_ns(self) -> int | None: ...
    @property
    def attempts(self) -> Sequence[Attempted]: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def last_step(self) -> int | None: ...
    @property
    def rejected(self) -> int: ...
    @property
    def summary(self) -> dict[str, Any]: ...
    @property
    def metrics(self) -> Mapping[str, MetricDigest]: ...
    @property
    def exit_code(self) -> int | None: ...
    @property
    def error(self) -> str | None: ...
    @property
    def share(self) -> float | None: ...
    @property
    def artifacts(self) -> list[ArtifactUse]: ...
    @property
    def alerts(self) -> list[Alert]: ...
    @property
    def damages(self) -> list[tuple[str, Damage]]: ...


class Record(Protocol):
    """One run, wherever it is kept."""

    @property
    def path(self) -> RunPath: ...

    @property
    def run_dir(self) -> RunDir | None:
        """Where it lies on this machine; None if it does not."""

    @property
    def url(self) -> str | None: ...

    @property
    def created_ns(self) -> int: ...

    @property
    def facts(self) -> Recorded:
        """What can be had quickly; figures only if they are at hand."""

    @property
    def whole(self) -> Recorded:
        """All of it."""

    def refresh(self) -> None:
        """Look again, at the next question."""

    def rows(
        self,
        keys: Sequence[str] | None,
        *,
        attempt: int | None = None,
        first: int | None = None,
        last: int | None = None,
        page_size: int = 1000,
    ) -> Iterator[Row]:
        """Yield rows by rising step, with these logged keys; at least those whose step lies in [first, last]."""

    def system_rows(self) -> Iterator[Row]:
        """Yield the system samples in the order of time."""

    def console(self, *, raw: bool, styles: bool) -> str: ...

    def write(self, events: Sequence[Event]) -> None:
        """Make the changes that the events say."""

    def delete(self) -> None:
        """Take the run away, so that `restore` can bring it back."""

    def restore(self) -> None: ...

    def stop(self) -> None:
        """Ask the run's process to stop."""

    def files(self, names: Sequence[str] | None = None) -> Iterable[File]:
        """Yield the run's files by name; those of these names that there are."""

    def file(self, name: str) -> File:
        """Return a file; UsageError if the run has none of that name."""

    def add_file(self, source: Path, name: str) -> File:
        """Add a file to the run, or replace it."""

    def logged_artifacts(self) -> list[Artifact]: ...

    def used_artifacts(self) -> list[Artifact]: ...


class Listing(Protocol):
    """Runs in an order, read as far as somebody asks."""

    def __iter__(self) -> Iterator[Record]: ...

    def count(self) -> int | None:
        """Return how many there are if that can be told without reading them all."""


class Artifacts(Protocol):
    """The artifacts of a source."""

    def find(self, name: str, type: str | None, *, entity: str, project: str | None) -> Artifact:
        """Return an artifact version; ArtifactError if there is none."""

    def versions(self, type: str | None, name: str, *, entity: str, project: str | None) -> list[Artifact]:
        """Return all versions of a name, newest first."""

    def types(self, *, entity: str, project: str | None) -> list[str]: ...

    def collections(self, *, entity: str | None, project: str | None, type: str | None) -> list[ArtifactCollection]: ...


class Source(Protocol):
    """Where runs are."""

    @property
    def place(self) -> str:
        """What messages call it: a directory or an address."""

    @property
    def list_command(self) -> str:
        """What to type to see which runs there are."""

    @property
    def fill_command(self) -> str:
        """What to type to get a first run there."""

    @property
    def default_entity(self) -> str: ...

    @property
    def user(self) -> str:
        """The name of whoever asks."""

    @property
    def artifacts(self) -> Artifacts: ...

    def runs(
        self,
        entity: str | None,
        project: str | None,
        *,
        filters: Mapping[str, Any] | None,
        order: str,
        per_page: int,
    ) -> Listing:
        """Return the runs that fit; raise UsageError for filters and orders that make no sense, at once."""

    def candidates(self, text: str, entity: str | None, project: str | None) -> Sequence[Record]:
        """Return runs that `text`, an id, its start or end, or a name, may mean; perhaps others too."""

    def record(self, path: RunPath) -> Record | None:
        """Return a run by its full path, or None."""

    def restore(self, reference: str) -> Record:
        """Bring a deleted run back; RunNotFound if nothing deleted is called that."""

    def projects(self, entity: str | None) -> list[tuple[str, str]]:
        """Return (entity, name) of the projects that there are, sorted."""

    def create_project(self, entity: str, name: str) -> None: ...

    def project_url(self, entity: str, name: str) -> str | None: ...
