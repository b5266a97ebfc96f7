"""v1-empty: one run that logs one empty row. What starting and stopping costs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "v1-empty"
METRICS = {"time_load": ("s", "less", "Startup/Shutdown Time")}
OPTIONS: dict[str, float] = {}
NEEDS: tuple[str, ...] = ()


def measure(bench: Bench) -> dict[str, float]:
    bench.tracker.setup()
    start = bench.clock()
    run = bench.tracker.start()
    run.log({})
    run.finish()
    return {"time_load": bench.clock() - start}
