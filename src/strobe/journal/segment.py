"""Segments: the files of a journal. One writer appends to one segment at a time; nobody else writes to it.

A segment is named `<attempt>-<writer>-<index>.strobe`, so that even a file whose header was destroyed says whose it is.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from strobe.errors import JournalError
from strobe.home import RunPath

SUFFIX = ".strobe"
_NAME = re.compile(r"(\d{4,})-([0-9a-z]+)-(\d{6,})\.strobe")


class Header(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first record of a segment: who writes, for which run."""

    entity: str
    project: str
    run: str
    writer: str
    attempt: int = 1
    #: main, rank, fork, system, agent or edit
    kind: str = "main"
    index: int = 0
    #: sequence numbers in frames count from here, so that (writer, sequence) names a record for ever
    first_sequence: int = 0
    host: str = ""
    rank: int | None = None
    created_ns: int = 0
    strobe: str = ""

    @property
    def path(self) -> RunPath:
        return RunPath(self.entity, self.project, self.run)

    @property
    def name(self) -> str:
        """The file name of the segment."""
        return f"{self.attempt:04d}-{self.writer}-{self.index:06d}{SUFFIX}"


class Seal(msgspec.Struct, frozen=True, array_like=True):
    """The last record of a segment that was closed in order."""

    frames: int
    successor: str | None = None


def parse_name(path: Path) -> tuple[int, str, int]:
    """Return (attempt, writer, index) from a segment's file name."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise JournalError(f"{path} is not named like a segment; expected <attempt>-<writer>-<index>{SUFFIX}")
    return int(match[1]), match[2], int(match[3])


def header_from_name(path: Path) -> Header:
    """Return what a segment's place says about it, where its header record does not."""
    attempt, writer, index = parse_name(path)
    entity, project, run = ("", "", "", *path.absolute().parts[:-2])[-3:]
    return Header(entity=entity, project=project, run=run, writer=writer, attempt=attempt, index=index)


def list_segments(directory: Path) -> list[Path]:
    """Return the segments in `directory`, those of one writer in the order written."""
    try:
        return sorted(path for path in directory.iterdir() if _NAME.fullmatch(path.name))
    except FileNotFoundError:
        return []
