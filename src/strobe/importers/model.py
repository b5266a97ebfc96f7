"""What a run of another tracker is to the recording: a stream of items, in the order in which things happened.

Whatever the journal has an event for comes as that event, with its original time; the rest are the small values here.
A stream begins with a `Start`, and each start ends with an `Ended` before the next one comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from strobe.home import RunPath
from strobe.importers.loss import Loss
from strobe.journal import event as ev

_MAX_NOTES = 50


@dataclass(frozen=True, slots=True)
class Start:
    """The run was started, or started again: an attempt of it."""

    #: what tells this start from all others, the same whenever it is imported
    identity: str
    started: ev.Started


@dataclass(frozen=True, slots=True)
class Row:
    """What was logged at a step; values are whatever `log()` takes."""

    step: int
    time_ns: int
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """What the machine did at a moment; names as in docs/system-metrics.md."""

    time_ns: int
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file at `path` below `base`, and at `path` below the run's files."""

    time_ns: int
    base: Path
    path: str


@dataclass(frozen=True, slots=True)
class LoggedArtifact:
    """An artifact that the run logged, all of whose contents are at hand."""

    time_ns: int
    name: str
    type: str
    description: str | None
    metadata: dict[str, Any]
    aliases: list[str]
    tags: list[str]
    #: path in the artifact → the file
    files: dict[str, Path]
    #: path in the artifact → (address, digest, size)
    references: dict[str, tuple[str, str, int]]


#: files that cannot be read as what they should be, with the reason
Refusals = dict[Path, str]
Item = Start | Row | Sample | KeptFile | LoggedArtifact | ev.Event


@dataclass(slots=True)
class Report:
    """What a reader could not bring over, and how far it is."""

    #: (file, what is not readable in it)
    losses: list[tuple[Path, Loss]] = field(default_factory=list)
    #: what the file has and Strobe does not take, by kind, and how often
    left_out: Counter[str] = field(default_factory=Counter)
    #: anything else worth a sentence
    notes: list[str] = field(default_factory=list)
    #: told how many bytes of the run's sources were read so far
    progress: Callable[[int], None] = lambda done: None

    def lose(self, path: Path, loss: Loss) -> None:
        self.losses.append((path, loss))

    def note(self, text: str) -> None:
        """Say something once, however often it happens; a file that is wrong all over is not worth a book."""
        if text not in self.notes and len(self.notes) <= _MAX_NOTES:
            self.notes.append(text if len(self.notes) < _MAX_NOTES else "and more of that kind")


class ForeignRun(Protocol):
    """A run that another tracker has recorded."""

    @property
    def path(self) -> RunPath:
        """Which run it becomes."""

    @property
    def name(self) -> str: ...

    @property
    def sources(self) -> list[Path]:
        """The files that it is read from, in the order of time."""

    @property
    def identities(self) -> list[str]:
        """The identities of those of its starts that are known without reading everything; the first is among them."""

    @property
    def imported(self) -> dict[str, Any]:
        """Where it comes from, as its attribute `imported` says: from, run, source, bytes and perhaps version."""

    def items(self, report: Report) -> Iterator[Item]:
        """Yield what happened. Never raises for the content of the files: what is unreadable goes to the report."""
