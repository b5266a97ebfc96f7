"""Repair: rewrite a damaged segment with everything in it that is still readable.

The original stays beside it as `.bak`. Nothing is made up: damaged records are left out, and so are rows whose key
names were lost, since a value under a wrong name is worse than none.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import msgspec

from strobe.errors import JournalError
from strobe.identity import is_alive
from strobe.journal import value
from strobe.journal.entry import Noted
from strobe.journal.event import Started
from strobe.journal.frame import HEADER, KEYS, MAGIC, ROW, SEAL, Damage, Frame, encode_frame, scan
from strobe.journal.reader import SegmentReader
from strobe.journal.segment import SUFFIX, Seal, header_from_name, list_segments, parse_name


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was done to one segment."""

    path: Path
    is_changed: bool
    kept: int
    #: readable rows that had to go because the record with their key names is gone
    dropped: int
    damages: list[Damage]
    #: bytes of a record that was cut short at the end
    torn_bytes: int
    backup: Path | None = None


def repair(path: Path) -> list[RepairReport]:
    """Repair a segment, or all segments of a journal or run directory."""
    if path.is_file():
        return [_repair_segment(path)]
    segments = list_segments(path) or list_segments(path / "journal")
    if not segments:
        raise JournalError(f"{path}: no journal segments (*{SUFFIX}) here")
    return [_repair_segment(segment) for segment in segments]


def _repair_segment(path: Path) -> RepairReport:
    content = path.read_bytes()
    damages = [] if content[: len(MAGIC)] == MAGIC else [Damage(0, len(MAGIC), "not the start of a journal")]
    found = scan(content, min(len(MAGIC), len(content)))
    damages += found.damages
    rest = len(content) - found.stop
    if found.rest == "damage":
        damages.append(Damage(found.stop, len(content), "no record can be read from here to the end"))
    kept, dropped = _usable(found.frames)
    if not damages and not rest and not dropped:
        return RepairReport(path, False, len(kept), 0, [], 0)
    _refuse_if_written(path, found.frames)
    backup = path.with_name(path.name + ".bak")
    partial = path.with_name(path.name + ".partial")
    with open(partial, "wb") as stream:
        stream.write(_rebuild(path, kept))
        stream.flush()
        os.fsync(stream.fileno())
    if not backup.exists():
        _keep(path, backup)
    os.replace(partial, path)
    torn_bytes = rest if found.rest == "torn" else 0
    return RepairReport(path, True, len(kept), dropped, damages, torn_bytes, backup)


def _refuse_if_written(path: Path, frames: list[Frame]) -> None:
    """Raise if the writer of the segment lives: it would go on in the file that was put aside."""
    if frames and frames[-1].kind == SEAL:
        return
    attempt, writer, _ = parse_name(path)
    for other in list_segments(path.parent):
        if parse_name(other)[:2] == (attempt, writer):
            for entry in SegmentReader(other).poll():
                if isinstance(entry, Noted) and isinstance(entry.event, Started):
                    begun = entry.event
                    if is_alive(begun.pid, begun.pid_started, begun.host, begun.boot_id, begun.pid_namespace):
                        raise JournalError(f"{path} is being written by process {begun.pid}; repair it after its end")
                    return


def _keep(path: Path, backup: Path) -> None:
    try:
        os.link(path, backup)
    except OSError:  # not every file system has hard links
        import shutil

        shutil.copy2(path, backup)


def _usable(frames: list[Frame]) -> tuple[list[Frame], int]:
    known: set[int] = set()
    kept: list[Frame] = []
    for frame in frames:
        if frame.kind == KEYS:
            known.add(value.decode(frame.payload)[0])
        elif frame.kind == ROW and value.decode(frame.payload)[0] not in known:
            continue
        kept.append(frame)
    return kept, len(frames) - len(kept)


def _rebuild(path: Path, frames: list[Frame]) -> bytes:
    parts = [MAGIC]
    if not frames or frames[0].kind != HEADER:
        parts.append(encode_frame(HEADER, 0, value.encode(header_from_name(path))))
    for frame in frames:
        payload = frame.payload
        if frame.kind == SEAL:
            seal = msgspec.msgpack.decode(payload, type=Seal)
            payload = value.encode(Seal(len(parts) - 1, seal.successor))
        parts.append(encode_frame(frame.kind, frame.sequence, payload))
    return b"".join(parts)
