"""`strobe bench swarm averaging`: its parameters, hivemind's lines, and what is recorded."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from strobe.bench.swarm.benchmark import Metric
from strobe.bench.swarm.event import Progress
from strobe.bench.swarm.program import Listener, Outcome, Phase
from strobe.errors import UsageError


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """hivemind's parameters with its defaults, then our own."""

    num_peers: int = 16
    target_group_size: int = 4
    num_rounds: int = 5
    hid_size: int = 256
    num_layers: int = 3
    min_matchmaking_time: float = 5.0
    round_timeout: float = 15.0
    request_timeout: float = 1.0
    spawn_dtime: float = 0.1
    increase_file_limit: bool = False

    plain: bool = False

    def __post_init__(self) -> None:
        for name in ("num_rounds", "hid_size", "num_layers"):
            if getattr(self, name) < 1:
                raise UsageError(f"--{name} must be at least 1, got {getattr(self, name)}")
        if not 2 <= self.target_group_size <= self.num_peers:
            raise UsageError(
                f"--target_group_size {self.target_group_size}: at least 2, at most --num_peers {self.num_peers}"
            )
        for name in ("min_matchmaking_time", "round_timeout", "request_timeout"):
            if getattr(self, name) <= 0:
                raise UsageError(f"--{name} must be above 0, got {getattr(self, name):g}")

    @property
    def variant(self) -> dict[str, str]:
        """What sets its records apart from those of other sizes."""
        return {
            "peers": str(self.num_peers),
            "groups": f"of-{self.target_group_size}",
            "rounds": str(self.num_rounds),
            "tensors": f"{self.num_layers}x{self.hid_size}",
            "wire": "plain" if self.plain else "encrypted",
        }

    @property
    def num_files(self) -> int:
        """How many files and sockets a process with all of the peers opens, roughly."""
        return 64 + self.num_peers * (4 + 2 * self.num_peers)


class Lines(Listener):
    """Prints what hivemind's benchmark prints: a line per step, and two in the end."""

    def __init__(self, out: Callable[[str], None]) -> None:
        self._out = out

    def progress(self, event: Progress) -> None:
        figures = event.figures
        verdict = "finished" if figures["is_good"] else "failed"
        self._out(f"Averager {figures['peer']:.0f}: {verdict} step #{figures['step']:.0f}")

    def ended(self, phase: Phase) -> None:
        if phase.name == "work":
            for line in lines_of(phase):
                self._out(line)


def lines_of(phase: Phase) -> list[str]:
    """Return the result lines."""
    good, count = phase.figures["good"], phase.figures["count"]
    return [
        f"Benchmark finished in {phase.seconds:.3f} seconds.",
        f"Success rate: {good / count} ({good:.0f} out of {count:.0f} attempts)",
    ]


def _figure(name: str) -> Callable[[Outcome], float | None]:
    return lambda outcome: outcome.phases["work"].figures[name]


def _success(outcome: Outcome) -> float:
    figures = outcome.phases["work"].figures
    return 100.0 * figures["good"] / figures["count"]


def _cpu_each(outcome: Outcome) -> float:
    work = outcome.phases["work"]
    return work.cpu_s / work.figures["count"]


METRICS = (
    Metric("finished", "s", "less", "Benchmark finished in", lambda outcome: outcome.phases["work"].seconds),
    Metric("took", "s", "less", "All rounds of all peers", _figure("took")),
    Metric("step", "s", "less", "Mean step", _figure("step_s")),
    Metric("step_cpu", "s", "less", "CPU per step, all processes", _cpu_each),
    Metric("success", "%", "more", "Success rate", _success),
    Metric("spread", "of the first", "less", "Variance between peers in the end", _figure("spread")),
    Metric("create", "s", "less", "Peers made", lambda outcome: outcome.phases["create"].seconds),
    Metric("memory", "B", "less", "Memory of all processes", lambda outcome: float(outcome.memory_bytes)),
)
