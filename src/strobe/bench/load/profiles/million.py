"""million: a million log() calls of one scalar; are all readable, and does memory grow?"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "million"
METRICS = {
    "time_load": ("s", "less", "A million log() calls and finish()"),
    "calls": ("rows", "more", "Calls made within the limit"),
    "missing": ("rows", "less", "Rows logged and not readable"),
    "growth": ("B", "less", "Growth of anonymous memory"),
}
OPTIONS: dict[str, float] = {"calls": 1_000_000, "limit_s": 120}
NEEDS = ("stored",)

_CHUNKS = 20


def measure(bench: Bench) -> dict[str, float]:
    run = bench.start()
    log, clock = run.log, bench.clock
    chunk = max(1, bench.option("calls") // _CHUNKS)
    calls = 0
    first = last = 0
    begin = clock()
    while calls < chunk * _CHUNKS and clock() - begin < bench.option("limit_s"):
        for number in range(calls, calls + chunk):
            log({"i": number})
        calls += chunk
        last = bench.process.anonymous_bytes()
        # The first chunk fills pools and caches that are not growth.
        first = first or last
    run.finish()
    time_load = clock() - begin
    readable = len({int(value) for value in bench.tracker.stored("i")})
    return {"time_load": time_load, "calls": calls, "missing": calls - readable, "growth": max(0, last - first)}
