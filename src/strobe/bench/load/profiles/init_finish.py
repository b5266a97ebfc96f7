"""init_finish: starting a run and ending it at once, after the import; the first in a process, and another."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "init_finish"
METRICS = {
    "total": ("s", "less", "init() + finish()"),
    "init": ("s", "less", "init()"),
    "finish": ("s", "less", "finish()"),
    "again": ("s", "less", "init() + finish(), second in the process"),
}
OPTIONS: dict[str, float] = {}
NEEDS: tuple[str, ...] = ()


def measure(bench: Bench) -> dict[str, float]:
    bench.tracker.setup()
    start = bench.clock()
    run = bench.tracker.start()
    started = bench.clock()
    run.finish()
    finished = bench.clock()
    bench.tracker.start().finish()
    again = bench.clock() - finished
    return {
        "total": finished - start,
        "init": started - start,
        "finish": finished - started,
        "again": again,
    }
