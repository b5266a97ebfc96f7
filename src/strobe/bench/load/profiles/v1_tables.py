"""v1-tables: one run of 10 steps, each of 20 tables of 4 columns and 1 row."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "v1-tables"
METRICS = {"time_load": ("s", "less", "Table logging performance")}
OPTIONS: dict[str, float] = {"steps": 10, "tables": 20}
NEEDS = ("table",)


def measure(bench: Bench) -> dict[str, float]:
    tracker = bench.tracker
    columns = ("a", "b", "c", "d")
    num_tables = bench.option("tables")
    tracker.setup()
    start = bench.clock()
    run = tracker.start()
    for step in range(bench.option("steps")):
        run.log({f"t_{n}": tracker.table(columns, [[0, step, n, n + 1]]) for n in range(num_tables)})
    run.finish()
    return {"time_load": bench.clock() - start}
