"""tables: 10 tables of 10,000 rows × 10 columns; how long the caller is blocked, and until all is finished."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "tables"
METRICS = {
    "wall": ("s", "less", "10 big tables, first log() to end of finish()"),
    "blocked": ("s", "less", "Caller blocked per big table"),
}
OPTIONS: dict[str, float] = {"tables": 10, "rows": 10_000}
NEEDS = ("table",)


def measure(bench: Bench) -> dict[str, float]:
    contents = [bench.table_rows(bench.option("rows"), seed) for seed in range(bench.option("tables"))]
    run = bench.start()
    blocked = []
    begin = bench.clock()
    for cells in contents:
        start = bench.clock()
        run.log({"table": bench.tracker.table(bench.table_columns, cells)})
        blocked.append(bench.clock() - start)
    run.finish()
    wall = bench.clock() - begin
    return {"wall": wall, "blocked": sorted(blocked)[len(blocked) // 2]}
