"""kill: kill -9 of a program that logs (the process, or its group; tight and slow loops); steps lost."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "kill"
METRICS = {
    "lost": ("steps", "less", "Acknowledged steps lost"),
    "acknowledged": ("steps", "more", "Steps acknowledged before the kills"),
    "kills": ("kills", "more", "Kills"),
}
OPTIONS: dict[str, float] = {"kills": 20}
NEEDS = ("stored",)


def measure(bench: Bench) -> dict[str, float]:
    return bench.lost_steps(bench.option("kills"))
