"""What is measured, and how: a cell is a benchmark at a batch size, the options hold for all cells of a session."""

from __future__ import annotations

import math
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from strobe.bench import registry
from strobe.bench.machine import usable_cpus
from strobe.bench.spec import Benchmark
from strobe.errors import UsageError

#: throughput: steps back to back. serving: queries arrive at random, the best rate within the latency limit
Scenario = Literal["throughput", "serving"]
#: of one process, unless asked otherwise
TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Cell:
    """One row to measure."""

    benchmark: Benchmark
    batch_size: int

    def __post_init__(self) -> None:
        if not 1 <= self.batch_size <= self.benchmark.max_batch:
            limit = self.benchmark.max_batch
            raise UsageError(f"{self.benchmark.key}: batch size {self.batch_size} is not between 1 and {limit}")

    def __str__(self) -> str:
        return f"{self.benchmark.key} B={self.batch_size}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How cells are measured."""

    #: fresh processes per cell
    repeats: int = 3
    #: of measuring in each process, after warm-up
    seconds: float = 1.0
    threads: int = field(default_factory=usable_cpus)
    device: str = "cpu"
    seed: int = 0
    scenario: Scenario = "throughput"
    timeout_s: float = TIMEOUT_S
    #: every cell is measured once, but no further repeat begins that would probably end later than this; None: all do
    budget_s: float | None = None
    #: of all processes of a repeat together; None: nine tenths of what is available
    memory_limit_bytes: int | None = None
    #: files with benchmarks of the user's own
    files: tuple[Path, ...] = ()
    python: str = sys.executable
    #: which of several nodes this is, and where they meet: "host:port" of node 0; each repeat takes two ports behind it
    node: int = 0
    master: str | None = None

    def __post_init__(self) -> None:
        for name in ("repeats", "seconds", "threads", "timeout_s"):
            if not 0 < getattr(self, name) < math.inf:
                raise UsageError(f"{name} must be a number above 0, got {getattr(self, name)}")
        if self.master is not None and not self.master.rpartition(":")[2].isdecimal():
            raise UsageError(f"--master must be HOST:PORT, got {self.master!r}")
        if self.node < 0:
            raise UsageError(f"--node counts from 0, got {self.node}")
        if self.node and self.master is None:
            raise UsageError(f"--node {self.node} needs --master HOST:PORT, where node 0 listens")

    def threads_each(self, benchmark: Benchmark) -> int:
        """Return how many threads each process of a benchmark has: those on one node share them."""
        return max(1, self.threads // benchmark.devices)


def reproduce(cell: Cell, options: Options) -> str:
    """Return the command that measures the cell again in the same way, from any directory."""
    words = ["strobe", "bench", "run", cell.benchmark.key, "--batch", str(cell.batch_size)]
    words += ["--repeats", str(options.repeats), "--seconds", f"{options.seconds:g}"]
    words += ["--threads", str(options.threads)]
    if options.device != "cpu":
        words += ["--device", options.device]
    if options.seed:
        words += ["--seed", str(options.seed)]
    if options.scenario != "throughput":
        words.append(f"--{options.scenario}")
    if options.timeout_s != TIMEOUT_S:
        words += ["--timeout", f"{options.timeout_s:g}"]
    if options.memory_limit_bytes is not None:
        words += ["--memory-limit", str(options.memory_limit_bytes / 1e9)]
    if options.master is not None:
        words += ["--node", str(options.node), "--master", options.master]
    # Not by its workload: a file may have a configuration of its own of one of the suite's.
    if cell.benchmark.key not in {one.key for one in registry.builtin()}:
        words += [word for path in options.files for word in ("--file", str(path.resolve()))]
    return shlex.join(words)
