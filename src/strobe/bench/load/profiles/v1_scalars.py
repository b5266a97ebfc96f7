"""v1-scalars: 10 parallel processes, each one run of 100 steps of 100 floats."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "v1-scalars"
METRICS = {"time_load": ("s", "less", "Parallel performance logging scalars")}
OPTIONS: dict[str, float] = {"processes": 10, "steps": 100, "keys": 100}
NEEDS: tuple[str, ...] = ()


def measure(bench: Bench) -> dict[str, float]:
    steps, num_keys = bench.option("steps"), bench.option("keys")
    bench.tracker.setup()

    def work(number: int) -> None:
        run = bench.tracker.start()
        for step in range(steps):
            run.log({f"f_{key}": float(10 * number + step + key) for key in range(num_keys)})
        run.finish()

    start = bench.clock()
    bench.in_parallel(bench.option("processes"), work)
    return {"time_load": bench.clock() - start}
