"""What parent and worker say to each other, as JSON."""

from __future__ import annotations

import msgspec

from strobe.bench.records import Correct, Latency, Repeat
from strobe.bench.runner.options import Scenario
from strobe.bench.workload import Work


class Meeting(msgspec.Struct, frozen=True, kw_only=True):
    """Where the processes of a measurement find rank 0: a port for the workloads' own meeting, one for the harness."""

    host: str = "127.0.0.1"
    port: int = 0
    own_port: int = 0


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a process among those of its measurement; by default it is alone."""

    rank: int = 0
    size: int = 1
    per_node: int = 1
    meeting: Meeting = Meeting()


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One repeat of one cell, for one process."""

    key: str
    files: tuple[str, ...]
    batch_size: int
    seed: int
    device: str
    threads: int
    #: CPUs to stay on; empty where processes cannot be pinned
    cpus: tuple[int, ...]
    seconds: float
    scenario: Scenario
    #: whether this repeat also compares an output with the reference
    is_checked: bool
    #: where the outcome goes
    result: str
    #: who started this; without it nobody reads the outcome
    parent_pid: int
    #: when a search that could go on for long has to come to its end: `time.monotonic()`, which processes share
    until: float
    seat: Seat = Seat()
    #: whether no other process of this measurement has the same CPUs
    is_alone: bool = True


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """The best rate of queries within the latency limit, None if there is none."""

    qps: float | None
    #: of the rate that was judged; None if time was up before any was
    latency: Latency | None
    #: whether time was up before the search was done
    is_cut: bool = False


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker found."""

    repeat: Repeat
    work: Work
    correctness: Correct | None = None
    software: dict[str, str] = {}
    served: Served | None = None
    #: with several nodes, fingerprints of their hardware, node 0's first, each once
    machines: tuple[str, ...] = ()
