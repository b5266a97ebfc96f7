"""helpers: what a tracker's helper processes use beside one run that logs 10 rows a second."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench
    from strobe.bench.load.worker.timing import Log

NAME = "helpers"
METRICS = {
    "cpu": ("cores", "less", "Share of a core that the helpers use"),
    "resident": ("B", "less", "Resident memory of the helpers"),
    "anonymous": ("B", "less", "Anonymous memory of the helpers"),
    "processes": ("processes", "less", "Helper processes"),
}
OPTIONS: dict[str, float] = {"seconds": 32, "settle_s": 3}
NEEDS: tuple[str, ...] = ()


def _log_for(bench: Bench, seconds: int, log: Log) -> None:
    end = bench.clock() + seconds
    number = 0
    while bench.clock() < end:
        log({"loss": 1.0 / (number + 1), "accuracy": number * 0.001})
        number += 1
        time.sleep(0.1)


def measure(bench: Bench) -> dict[str, float]:
    run = bench.start()
    _log_for(bench, bench.option("settle_s"), run.log)
    begin, before = bench.clock(), bench.process.helpers_cpu_seconds()
    _log_for(bench, bench.option("seconds"), run.log)
    after, took = bench.process.helpers_cpu_seconds(), bench.clock() - begin
    helpers = list(after)
    result = {
        "cpu": sum(used - before.get(pid, 0.0) for pid, used in after.items()) / took,
        "resident": sum(map(bench.process.resident_bytes, helpers)),
        "anonymous": sum(map(bench.process.anonymous_bytes, helpers)),
        "processes": len(helpers),
    }
    run.finish()
    return result
