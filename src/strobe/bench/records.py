"""The one record type for benchmark results, and its file form: JSON, one record per line.

Load profiles, workloads and swarm benchmarks all produce `Record`s: what was measured on whom, every raw sample,
on which machine, and the command that measures it again. A measurement that failed is a record too, with `error`
and no samples, so that a table can say "failed" instead of leaving a hole. How samples come about is not known here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from strobe.bench import stats
from strobe.errors import Error

SCHEMA = 1

Better = Literal["less", "more"]


class Environment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The machine and the moment; times of two environments must not be compared."""

    host: str = ""
    os: str = ""
    cpu: str = ""
    cpu_count: int = 0
    memory_bytes: int = 0
    python: str = ""
    file_system: str = ""
    load_average: float | None = None
    accelerator: str = ""
    started_at: str = ""


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Samples of one metric of one subject in one benchmark."""

    benchmark: str
    subject: str
    subject_version: str = ""
    #: the server it was measured with, such as "strobe 0.1.0"; none offline
    server: str = ""
    #: feature → value, such as {"mode": "offline", "stats": "on"}
    variant: dict[str, str] = {}
    metric: str
    unit: str
    better: Better = "less"
    samples: tuple[float, ...] = ()
    #: what went wrong; then there are no samples
    error: str | None = None
    #: sizes that the benchmark was run with, where they can be chosen
    options: dict[str, float] = {}
    environment: Environment = Environment()
    command: str = ""
    schema: int = SCHEMA

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What makes two records measurements of the same thing."""
        return (self.benchmark, self.subject, format_variant(self.variant), self.metric)

    def digest(self) -> stats.Digest:
        """Describe the samples; raises ValueError for a failed measurement."""
        return stats.digest(self.samples)


def format_variant(variant: dict[str, str]) -> str:
    """Write a variant as the load profiles' CSV does: `mode=offline,stats=on`."""
    return ",".join(f"{name}={value}" for name, value in variant.items())


def append_records(path: Path, records: Iterable[Record]) -> None:
    """Append records to a JSON lines file in one write, so that two benchmarks may share it."""
    blob = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    with open(descriptor, "ab", buffering=0) as stream:
        stream.write(blob)


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a JSON lines file; raises strobe.Error naming the line that is not one."""
    decoder = msgspec.json.Decoder(Record)
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                record = decoder.decode(line)
            except msgspec.DecodeError as exc:
                raise Error(f"{path}:{number}: not a benchmark record ({exc})") from exc
            if record.schema > SCHEMA:
                raise Error(f"{path}:{number}: schema {record.schema} is newer than {SCHEMA}; update Strobe")
            yield record
