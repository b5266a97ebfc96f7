"""spin: log() of 10 scalars while another Python thread computes without pause.

A call that gives up the interpreter lock waits up to a switch interval (5 ms) to get it back. Python itself takes
the lock from any thread after that interval, which is no cost of log(): so the calls come in short bursts, each
begun with the lock freshly taken, as after a wait for a device. `tight` is one long loop without that.
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
    "tight": ("s", "less", "Mean wall per log() beside a spinning thread, in one long loop"),
}
OPTIONS: dict[str, float] = {"calls": 5000, "limit_s": 10}
NEEDS: tuple[str, ...] = ()

_BURST = 100


def measure(bench: Bench) -> dict[str, float]:
    calls, limit_s = bench.option("calls"), bench.option("limit_s")
    with bench.spinning_thread():
        run = bench.start()
        bursts = sorted(bench.wall_of_calls(run, 10, calls=calls, limit_s=limit_s, burst=_BURST))
        tight = bench.wall_of_calls(run, 10, calls=calls, limit_s=limit_s)
        run.finish()
    return {
        "mean": sum(bursts) / len(bursts),
        "p50": bursts[len(bursts) // 2],
        "p99": bursts[int(len(bursts) * 0.99)],
        "tight": sum(tight) / len(tight),
    }
