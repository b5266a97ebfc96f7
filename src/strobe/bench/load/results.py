"""results.csv: one line per time measured, in the columns of wandb's own benchmark suite, appended.

The seconds are the median of the repetitions; the raw samples are in the records' JSON lines.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from strobe.bench.records import Record, format_variant
from strobe.bench.stats import median

#: of the definitions, not of a tracker: lines of one version measure the same loads (seed of 2024-04-11)
VERSION = "v1-2024-04-11-0"
_PREFIX = "load-"
COLUMNS = (
    "version",
    "test_name",
    "test_profile",
    "test_variant",
    "client_version",
    "client_type",
    "server_version",
    "server_type",
    "metric",
    "seconds",
)


def model_of(profile: str) -> str:
    """Return what stands in a profile's records as the model."""
    return _PREFIX + profile


def profile_of(record: Record) -> str:
    """Return the profile that a record is of."""
    return record.model.removeprefix(_PREFIX)


def append(path: Path, records: Sequence[Record], *, test_name: str = "") -> int:
    """Append the times among the records; return how many lines that were. A new file gets the header."""
    timed = [record for record in records if record.unit == "s" and record.samples]
    is_new = not path.exists() or path.stat().st_size == 0
    with path.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        writer.writerows(_line(record, test_name) for record in timed)
    return len(timed)


def _line(record: Record, test_name: str) -> list[str]:
    server_type, _, server_version = record.server.partition(" ")
    return [
        VERSION,
        test_name,
        profile_of(record),
        format_variant(record.variant),
        record.subject_version,
        record.subject,
        server_version,
        server_type,
        record.metric,
        repr(median(record.samples)),
    ]
