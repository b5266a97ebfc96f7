"""Journal files looked at one by one: what each holds, whether it is whole, and its records in plain form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from strobe.errors import JournalError, UsageError
from strobe.journal.entry import Row
from strobe.journal.frame import Damage
from strobe.journal.reader import SegmentReader
from strobe.journal.segment import SUFFIX, Header, list_segments

if TYPE_CHECKING:
    from strobe.journal.repair import RepairReport


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """What one segment holds. `torn` is where the last record is cut short: by a kill, or by a writer at work."""

    path: Path
    size_bytes: int
    header: Header | None
    num_rows: int
    num_events: int
    num_unknown: int
    is_sealed: bool
    torn: int | None
    damages: list[Damage]

    @property
    def is_whole(self) -> bool:
        return not self.damages


def find_segments(path: Path) -> list[Path]:
    """Return the segments that a path means: a file, a journal's directory, a run's, or anything above it."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UsageError(f"{path} is neither a file nor a directory")
    found = list_segments(path) or list_segments(path / "journal") or sorted(path.rglob(f"*{SUFFIX}"))
    if not found:
        raise UsageError(f"no journal segments (*{SUFFIX}) under {path}")
    return found


def verify(path: Path) -> SegmentReport:
    """Read a segment to its end and report; never raises for what is wrong with the content."""
    rows = events = 0
    size = path.stat().st_size
    try:
        reader = SegmentReader(path)
        for entry in reader.poll():
            if isinstance(entry, Row):
                rows += 1
            else:
                events += 1
    except JournalError as error:
        return SegmentReport(path, size, None, rows, events, 0, False, None, [Damage(0, size, str(error))])
    return SegmentReport(
        path=path,
        size_bytes=size,
        header=reader.header,
        num_rows=rows,
        num_events=events,
        num_unknown=reader.num_unknown,
        is_sealed=reader.seal is not None,
        torn=reader.torn,
        damages=reader.damages,
    )


def dump(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a segment: its header, rows and events, then any damage."""
    reader = SegmentReader(path)
    header_shown = False
    for entry in reader.poll():
        if not header_shown:
            header_shown = True
            yield {"record": "header", **msgspec.structs.asdict(reader.header)}
        if isinstance(entry, Row):
            yield {
                "record": "row",
                "sequence": entry.sequence,
                "step": entry.step,
                "time_ns": entry.time_ns,
                "values": dict(entry.items()),
            }
        else:
            fields = msgspec.structs.asdict(entry.event)
            tag = type(entry.event).__struct_config__.tag
            yield {"record": "event", "sequence": entry.sequence, "type": tag, **fields}
    if not header_shown:
        yield {"record": "header", **msgspec.structs.asdict(reader.header)}
    for damage in reader.damages:
        yield {"record": "damage", **damage._asdict()}
    if reader.torn is not None:
        yield {"record": "torn", "start": reader.torn}


def report_fields(report: SegmentReport) -> dict[str, Any]:
    """Return the report as `strobe journal verify --json` prints it."""
    header = report.header
    return {
        "segment": str(report.path),
        "bytes": report.size_bytes,
        "run": None if header is None else str(header.path),
        "writer": None if header is None else header.writer,
        "attempt": None if header is None else header.attempt,
        "kind": None if header is None else header.kind,
        "rows": report.num_rows,
        "events": report.num_events,
        "unknown": report.num_unknown,
        "sealed": report.is_sealed,
        "torn": report.torn,
        "damages": [damage._asdict() for damage in report.damages],
    }


def repair_fields(report: RepairReport) -> dict[str, Any]:
    """Return the report as `strobe journal repair --json` prints it."""
    return {
        "segment": str(report.path),
        "changed": report.is_changed,
        "kept": report.kept,
        "dropped": report.dropped,
        "torn_bytes": report.torn_bytes,
        "damages": [damage._asdict() for damage in report.damages],
        "backup": None if report.backup is None else str(report.backup),
    }
