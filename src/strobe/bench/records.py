"""The one record type for benchmark results, and its file form: JSON, one record per line.

Load profiles, workloads and swarm benchmarks all produce `Record`s: what was measured on whom, every raw sample,
on which machine, and the command that measures it again. A measurement that failed is a record too, with `error`
and no samples, so that a table can say "failed" instead of leaving a hole. How samples come about is not known here.

Schema 2 added what the workloads of the suite need (`Repeat` and everything below `id`); lines of schema 1 still read.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from strobe.bench import stats
from strobe.bench.workload import Work
from strobe.errors import Error
from strobe.settings.notice import warn_once

SCHEMA = 2

#: the metric of rows whose samples are examples (or flops, or bytes) a second of steps back to back
THROUGHPUT = "throughput"
#: the metric of rows whose samples are rates of queries within a latency limit
SERVING = "serving"

#: how the error of a row begins that was left out, because what it needs is not here
NOT_HERE = "not on this machine: "

#: how doubts about a repeat begin where somebody else had the CPUs
STEAL = "steal "
OTHERS = "other processes used "
QUOTA = "the container's quota held back "

Better = Literal["less", "more"]
LatencyStatus = Literal["met", "missed", "undecided"]
Bound = Literal["compute", "memory"]


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
    #: the cards that it ran on; all that the machine has are `accelerators` of its hardware
    accelerator: str = ""
    started_at: str = ""
    #: what does not change without a screwdriver: cpu, its flags and caches, memory, accelerator, hypervisor
    hardware: dict[str, str] = {}
    #: versions, build and run-time flags, threads
    software: dict[str, str] = {}
    #: of the code that was measured; empty when it is not in a repository
    git_commit: str = ""
    is_dirty: bool = False

    @property
    def fingerprint(self) -> str:
        """Short hash of the hardware: results of two fingerprints are results of two systems; empty if unknown."""
        return _hash(self.hardware)

    @property
    def softprint(self) -> str:
        """Short hash of the software; empty if unknown."""
        return _hash(self.software)


class Repeat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One fresh process that measured a workload: its raw samples, and what went on beside them."""

    #: seconds per step, one entry per sample; a sample is `inner_loops` steps, timed together and divided
    wall_s: tuple[float, ...]
    #: CPU seconds of all threads per step
    cpu_s: tuple[float, ...]
    inner_loops: int = 1
    #: samples after which the work of a sample comes again, where that of neighbours is not alike
    turn: int = 1
    setup_s: float = 0.0
    compile_s: float = 0.0
    warmup_steps: int = 0
    peak_rss_bytes: int = 0
    #: the most that torch held on the cards, where those were measured
    peak_card_bytes: int | None = None
    load_before: float | None = None
    load_after: float | None = None
    #: share of CPU time that the hypervisor gave to others meanwhile
    steal_percent: float | None = None
    #: Joule over all samples, where the machine counts them
    energy_j: float | None = None
    #: why these samples deserve doubt, such as "steal 12 %"
    noisy: tuple[str, ...] = ()

    @property
    def step_s(self) -> float:
        """What a step took: the middle one, of unlike steps on average over a turn."""
        return stats.middle_of_turns(self.wall_s, self.turn)

    @property
    def is_disturbed(self) -> bool:
        """Whether others had a part of the CPUs meanwhile: what it shows is theirs as well."""
        return any(reason.startswith((STEAL, OTHERS, QUOTA)) for reason in self.noisy)


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """Percentiles of the steps of all repeats, and whether the limit is kept as far as so many steps can tell.

    Of a serving row: of the queries at one rate, which `n` and `num_over` count in units of the largest step.
    """

    limit_ms: float
    percentile: float
    status: LatencyStatus
    n: int
    num_over: int
    p50_ms: float
    p90_ms: float
    p95_ms: float
    p99_ms: float


class Correct(msgspec.Struct, frozen=True, kw_only=True):
    """The workload's judgement of its own output, of the first repeat; of several ranks, the first that is wrong."""

    is_correct: bool
    #: root mean square of the difference over the reference's spread; None if it is not a number
    error: float | None
    max_error: float | None
    tolerance: float
    #: what it was compared with, such as "OOTB float64"
    reference: str


class Roofline(msgspec.Struct, frozen=True, kw_only=True):
    """How near a step comes to what this machine can do at best, by its own measured peaks."""

    peak_flops: float
    peak_bytes_per_s: float
    fraction: float
    bound: Bound


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
    #: sorts by time of making; unique
    id: str = ""
    model: str = ""
    mode: str = ""
    config: str = ""
    #: of its products; records of an older Strobe have it in their configuration's name only
    precision: str = ""
    #: of the benchmark's declaration; results of two versions are not comparable
    version: int = 0
    #: hash of what the version promises to keep (strobe.bench.seal): without seals, only the specification
    seal: str = ""
    owner: str = ""
    batch_size: int | None = None
    repeats: tuple[Repeat, ...] = ()
    latency: Latency | None = None
    correctness: Correct | None = None
    #: of one step
    work: Work | None = None
    roofline: Roofline | None = None
    energy_j_per_example: float | None = None
    #: what an Optimized implementation does otherwise than OOTB
    changes: tuple[str, ...] = ()
    devices: int = 1
    nodes: int = 1
    #: what it ran on, as `--device` says it
    device: str = "cpu"
    #: per process; 0 in records that only their software knows it of
    threads: int = 0
    #: a batch that a search tried in one process, or gave up on: a point of a curve, no measurement to compare with
    is_trial: bool = False
    #: one side of what `--confirm` measured in turns until it was decided: judged there, and not once more
    is_confirmation: bool = False
    #: measured although its sealed code had changed under its version: comparable with nothing
    is_changed: bool = False
    # A factory, because a default that is left out would be read as the schema of whoever reads.
    schema: int = msgspec.field(default_factory=lambda: SCHEMA)

    @property
    def is_left_out(self) -> bool:
        """Whether it was never tried, which is no failure: the machine lacks something, as `error` says."""
        return self.error is not None and self.error.startswith(NOT_HERE)

    @property
    def is_aside(self) -> bool:
        """Whether it answered a question of its own, and is no result of a session that others are held against."""
        return self.is_trial or self.is_confirmation

    @property
    def num_threads(self) -> int:
        """Threads of each process; 0 if nobody knows."""
        noted = self.environment.software.get("threads", "")
        return self.threads or (int(noted) if noted.isdecimal() else 0)

    def digest(self) -> stats.Digest:
        """Describe the samples; raises ValueError for a failed measurement."""
        return stats.digest(self.samples)


def make_id() -> str:
    """Return a new id: 48 bits of milliseconds, then 80 of chance, in hexadecimal, so that text order is time order."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def _hash(facts: Mapping[str, str]) -> str:
    if not facts:
        return ""
    text = "\n".join(f"{name}={facts[name]}" for name in sorted(facts))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def format_variant(variant: dict[str, str]) -> str:
    """Write a variant as the load profiles' CSV does: `mode=offline,stats=on`."""
    return ",".join(f"{name}={value}" for name, value in variant.items())


def format_number(value: float) -> str:
    """Write a number shortly, as an option of a command: it is read back as the same."""
    return short if float(short := f"{value:g}") == value else repr(value).removesuffix(".0")


def distinct(records: Iterable[Record]) -> Iterator[Record]:
    """Yield each record once, though several files have it; of those before there were ids nobody could tell."""
    seen: set[str] = set()
    for record in records:
        if not record.id or record.id not in seen:
            seen.add(record.id)
            yield record


def results_path(home: Path) -> Path:
    """Return where a home keeps its results."""
    return home / "bench" / "results.jsonl"


def append_records(path: Path, records: Iterable[Record]) -> None:
    """Append records to a JSON lines file in one write, so that two benchmarks may share it; a power cut keeps them."""
    blob = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
    if _is_torn(path):
        blob = b"\n" + blob
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    with open(descriptor, "ab", buffering=0) as stream:
        # A disk that is nearly full takes a part; the rest is then refused with the reason.
        while blob:
            blob = blob[stream.write(blob) or 0 :]
        os.fsync(descriptor)


def _is_torn(path: Path) -> bool:
    """Whether the last line of a file has no end: who wrote it was killed, or had no room."""
    if not path.is_file() or not path.stat().st_size:
        return False
    with path.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) != b"\n"


def read_records(path: Path) -> Iterator[Record]:
    """Yield the records of a JSON lines file; raises strobe.Error naming the line that is not one.

    A line that begins as a record and is no JSON was torn while it was written, and so was one of zeros, as a power cut
    leaves them: it is left out with a warning.
    """
    decoder = msgspec.json.Decoder(Record)
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                record = decoder.decode(line)
            except msgspec.DecodeError as exc:
                if line.startswith((b'{"', b"\0")) and not isinstance(exc, msgspec.ValidationError):
                    warn_once(f"{path}:{number}", f"{path}:{number}: left out: torn while it was written ({exc})")
                    continue
                raise Error(f"{path}:{number}: not a benchmark record ({exc})") from exc
            if record.schema > SCHEMA:
                raise Error(f"{path}:{number}: schema {record.schema} is newer than {SCHEMA}; update Strobe")
            yield record
