"""`strobe bench swarm compression`: its parameters, hivemind's lines, and what is recorded."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from strobe.bench.swarm.benchmark import Metric
from strobe.bench.swarm.program import Listener, Outcome, Phase
from strobe.errors import UsageError

WAYS = ("NONE", "FLOAT16", "BFLOAT16", "MEANSTD_16BIT", "UNIFORM_8BIT", "QUANTILE_8BIT", "BLOCKWISE_8BIT")


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """hivemind's parameters with its defaults."""

    size: int = 10_000_000
    seed: int = 7348
    num_iters: int = 30

    def __post_init__(self) -> None:
        if self.size < 1 or self.num_iters < 1:
            raise UsageError(f"--size {self.size} and --num_iters {self.num_iters} must be at least 1")

    @property
    def variant(self) -> dict[str, str]:
        """What sets its records apart from those of other sizes."""
        return {"values": str(self.size)}


class Lines(Listener):
    """Prints a line for each way."""

    def __init__(self, out: Callable[[str], None]) -> None:
        self._out = out

    def ended(self, phase: Phase) -> None:
        self._out(line_of(phase))


def line_of(phase: Phase) -> str:
    """Return the result line of one way."""
    figures = phase.figures
    return (
        f"Compression type: {phase.name}, time: {phase.seconds / figures['iters']:.5f}, "
        f"compression error: {figures['error']:.5f}, size: {figures['bytes']:.0f}"
    )


def _seconds(way: str) -> Callable[[Outcome], float | None]:
    def each(outcome: Outcome) -> float | None:
        phase = outcome.phases.get(way)
        return None if phase is None else phase.seconds / phase.figures["iters"]

    return each


def _figure(way: str, name: str) -> Callable[[Outcome], float | None]:
    return lambda outcome: None if (phase := outcome.phases.get(way)) is None else phase.figures[name]


METRICS = tuple(
    metric
    for way in WAYS
    for metric in (
        Metric(f"{way.lower()}_time", "s", "less", f"{way}, time", _seconds(way)),
        Metric(f"{way.lower()}_error", "mean square", "less", f"{way}, error", _figure(way, "error")),
        Metric(f"{way.lower()}_size", "B", "less", f"{way}, size", _figure(way, "bytes")),
    )
)
