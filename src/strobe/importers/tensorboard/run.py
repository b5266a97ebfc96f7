"""Finds TensorBoard's runs: as for TensorBoard itself, each directory that holds event files is one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from strobe.errors import NotImportable
from strobe.home import LOCAL_ENTITY, RunPath, check_name
from strobe.importers.model import Item, Refusals, Report
from strobe.importers.protobuf import WireError
from strobe.importers.tensorboard.event import EventReader
from strobe.importers.tensorboard.frames import is_event_file, read_records
from strobe.importers.tensorboard.log import EventLog
from strobe.sdk.name import id_of

DEFAULT_PROJECT = "tensorboard"
_MARK = "tfevents"
#: a file of this name says only that there is a profile beside it
_NO_EVENTS = ".profile-empty"
_HEAD = 12


class TensorBoardRun:
    """The event files of one directory."""

    def __init__(self, directory: Path, files: list[tuple[float, Path]], name: str, entity: str, project: str) -> None:
        ordered = sorted(files)
        first_s, first = ordered[0]
        self.name = name
        self.started_s = first_s
        self.sources = [path for _, path in ordered]
        # Not the path that was given: the same run may be reached by another one the next time.
        self._identity = f"tensorboard {directory.name} {first.name} {first_s!r}"
        self.path = RunPath(entity, project, id_of(self._identity))
        self._directory = directory

    @property
    def identities(self) -> list[str]:
        return [self._identity]

    @property
    def imported(self) -> dict[str, Any]:
        size = sum(path.stat().st_size for path in self.sources)
        return {"from": "tensorboard", "run": self.name, "source": str(self._directory), "bytes": size}

    def items(self, report: Report) -> Iterator[Item]:
        attributes = {"name": self.name, "imported": self.imported}
        log = EventLog(self.sources, identity=self._identity, attributes=attributes, report=report)
        return log.items()


def find_runs(
    paths: Iterable[Path], refused: Refusals, *, entity: str | None = None, project: str | None = None
) -> list[TensorBoardRun]:
    """Return the runs in event files, directories of them and trees, the first written first.

    Files that are no such files go to `refused`. Raises NotImportable for a directory without any.
    """
    owner, place = check_name("entity", entity or LOCAL_ENTITY), check_name("project", project or DEFAULT_PROJECT)
    found: dict[Path, TensorBoardRun] = {}
    for path in paths:
        for directory, name, files in _find_directories(path.resolve(strict=True)):
            timed = list(_timed(files, refused))
            if timed:
                found.setdefault(directory, TensorBoardRun(directory, timed, name, owner, place))
    return sorted(found.values(), key=lambda run: (run.started_s, run.name))


def _find_directories(path: Path) -> Iterator[tuple[Path, str, list[Path]]]:
    """Yield each directory with event files, the run's name, and the files."""
    if not path.is_dir():
        yield path.parent, path.parent.name, [path]
        return
    is_empty = True
    for directory, below, names in os.walk(path):
        below.sort()
        files = [Path(directory) / name for name in names if _MARK in name and not name.endswith(_NO_EVENTS)]
        if files:
            is_empty = False
            relative = Path(directory).relative_to(path).as_posix()
            yield Path(directory), path.name if relative == "." else relative, files
    if is_empty:
        raise NotImportable(f"{path} holds no event files (…{_MARK}…); name a log directory, such as runs/")


def _timed(files: list[Path], refused: Refusals) -> Iterator[tuple[float, Path]]:
    """Yield the files that have events, each with the time of the first."""
    for path in files:
        try:
            with path.open("rb") as stream:
                head = stream.read(_HEAD)
            if head and not is_event_file(head):
                raise NotImportable(f"{path} begins with {head[:8]!r}, which is no TFRecord; name an event file")
            if (moment := first_moment(path)) is not None:
                yield moment, path
        except (NotImportable, OSError) as error:
            refused[path] = str(error)


def first_moment(path: Path) -> float | None:
    """Return when a file's first event was written, in seconds; None if it has none."""
    reader = EventReader()
    with path.open("rb") as stream:
        for payload in read_records(stream, lambda loss: None):
            try:
                return reader.read(payload).wall_s
            except WireError:
                continue
    return None
