"""spin: log() of 10 scalars while another Python thread computes without pause.

A call that gives up the interpreter lock waits up to a switch interval (5 ms) to get it back.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "spin"
METRICS = {
    "mean": ("s", "less", "Mean wall per log() beside a spinning thread"),
    "p50": ("s", "less", "Median wall per log() beside a spinning thread"),
    "p99": ("s", "less", "99th percentile wall per log() beside a spinning thread"),
}
OPTIONS: dict[str, float] = {"calls": 5000, "limit_s": 10}
NEEDS: tuple[str, ...] = ()


def measure(bench: Bench) -> dict[str, float]:
    with bench.spinning_thread():
        walls = sorted(bench.log_walls(10, calls=bench.option("calls"), limit_s=bench.option("limit_s")))
    return {
        "mean": sum(walls) / len(walls),
        "p50": walls[len(walls) // 2],
        "p99": walls[int(len(walls) * 0.99)],
    }
