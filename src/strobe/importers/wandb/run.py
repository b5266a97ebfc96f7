"""Finds wandb runs in directories, and tells which files are starts of one and the same run."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strobe.errors import NotImportable, UsageError
from strobe.home import DEFAULT_PROJECT, LOCAL_ENTITY, RunPath, check_name
from strobe.importers.model import Item, Refusals, Report
from strobe.importers.protobuf import Message, WireError
from strobe.importers.wandb import fields, values
from strobe.importers.wandb.frames import FILE_HEADER_SIZE, describe_header, read_records
from strobe.importers.wandb.log import Log, run_attributes

SUFFIX = ".wandb"
_NAME = re.compile(r"run-(.+)\.wandb")
#: the run record is among the first
_MAX_PEEKED = 100


@dataclass(frozen=True, slots=True)
class LogFile:
    """One `.wandb` file: a start of a run."""

    path: Path
    run_id: str
    entity: str
    project: str
    name: str
    started_ns: int
    version: str

    @property
    def identity(self) -> str:
        """The same for a copy of the file elsewhere, and for the file when it has grown."""
        return f"wandb {self.run_id} {self.started_ns}"

    @property
    def imported(self) -> dict[str, Any]:
        run = "/".join(part for part in (self.entity, self.project, self.run_id) if part)
        size = self.path.stat().st_size
        return {"from": "wandb", "run": run, "version": self.version, "source": str(self.path), "bytes": size}


class WandbRun:
    """A wandb run: its starts, each in a file of its own."""

    def __init__(self, path: RunPath, files: Sequence[LogFile]) -> None:
        self.path = path
        self._files = sorted(files, key=lambda file: (file.started_ns, file.path))

    @property
    def name(self) -> str:
        return self._files[-1].name or self.path.id

    @property
    def started_ns(self) -> int:
        return self._files[0].started_ns

    @property
    def sources(self) -> list[Path]:
        return [file.path for file in self._files]

    @property
    def identities(self) -> list[str]:
        return [file.identity for file in self._files]

    @property
    def imported(self) -> dict[str, Any]:
        return self._files[-1].imported

    def items(self, report: Report) -> Iterator[Item]:
        before = 0
        with tempfile.TemporaryDirectory(prefix="strobe-import-") as scratch:
            for number, file in enumerate(self._files):
                place = Path(scratch) / str(number)
                log = Log(file.path, identity=file.identity, imported=file.imported, scratch=place, report=report)
                yield from log.items(before)
                before += file.path.stat().st_size


def find_runs(
    paths: Iterable[Path], refused: Refusals, *, entity: str | None = None, project: str | None = None
) -> list[WandbRun]:
    """Return the runs in files, run directories and trees of them, the oldest first; `entity`, `project` move them.

    Files that are no such files go to `refused`. Raises NotImportable for a directory without any.
    """
    owner = check_name("entity", entity or LOCAL_ENTITY)
    wanted = check_name("project", project) if project else None
    groups: dict[RunPath, list[LogFile]] = {}
    for path in dict.fromkeys(found for given in paths for found in _find_files(given)):
        try:
            file = peek(path)
            place = wanted or check_name("project", file.project or DEFAULT_PROJECT)
            groups.setdefault(RunPath(owner, place, check_name("run id", file.run_id)), []).append(file)
        except (NotImportable, UsageError, OSError) as error:
            refused[path] = str(error)
    runs = [WandbRun(run, files) for run, files in groups.items()]
    return sorted(runs, key=lambda run: run.started_ns)


def _find_files(path: Path) -> list[Path]:
    if path.is_dir():
        found = [
            Path(directory) / name
            # Links are not followed: `latest-run` leads to a run that is found anyway.
            for directory, _, names in os.walk(path.resolve())
            for name in names
            if name.endswith(SUFFIX)
        ]
        if not found:
            raise NotImportable(f"{path} holds no {SUFFIX} files; name a run's directory, or one above, such as wandb/")
        return sorted(found)
    return [path.resolve(strict=True)]


def peek(path: Path) -> LogFile:
    """Return which run a file is a start of, from its first records."""
    with path.open("rb") as stream:
        if problem := describe_header(stream.read(FILE_HEADER_SIZE)):
            raise NotImportable(f"{path} {problem}; name the run-….wandb file or its directory")
        version, run = "", None
        for _, payload in zip(range(_MAX_PEEKED), read_records(stream, lambda loss: None), strict=False):
            try:
                record = Message(payload)
                if (header := record.message(fields.Record.HEADER)) is not None:
                    version = _version(header)
                run = record.message(fields.Record.RUN)
            except WireError:
                continue
            if run is not None:
                break
    named = _NAME.fullmatch(path.name)
    run_id = (run.text(fields.Run.ID) if run else "") or (named[1] if named else path.stem)
    return LogFile(
        path=path,
        run_id=run_id,
        entity=run.text(fields.Run.ENTITY) if run else "",
        project=run.text(fields.Run.PROJECT) if run else "",
        name=run_attributes(run).get("name", "") if run else "",
        started_ns=values.time_ns(run.message(fields.Run.START_TIME)) if run else 0,
        version=version,
    )


def _version(header: Message) -> str:
    info = header.message(fields.Header.VERSION)
    return "" if info is None else info.text(fields.Header.PRODUCER).partition("+")[0]
