"""memory: anonymous memory that import, init() and 1,000 rows add to a bare interpreter."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "memory"
METRICS = {"anonymous": ("B", "less", "Anonymous memory over a bare interpreter")}
OPTIONS: dict[str, float] = {"calls": 1000}
NEEDS: tuple[str, ...] = ()

# Executed in an interpreter that has nothing loaded; the adapter's own imports count, as a user's would.
_PROBE = """
import sys

def anonymous():
    with open("/proc/self/status") as stream:
        return next(int(line.split()[1]) * 1024 for line in stream if line.startswith("RssAnon:"))

bare = anonymous()
path, directory, mode, calls, *features = sys.argv[1:]
space = {"__name__": "adapter"}
with open(path) as stream:
    exec(compile(stream.read(), path, "exec"), space)
tracker = space["Tracker"](directory, mode, dict(part.split("=") for part in features))
tracker.setup()
run = tracker.start()
for number in range(int(calls)):
    run.log({"loss": 0.5 * number, "accuracy": 0.25 * number})
used = anonymous() - bare
run.finish()
print("\\n" + str(used), flush=True)
import os
os._exit(0)  # what a tracker prints at exit would come after the number
"""


def measure(bench: Bench) -> dict[str, float]:
    return {"anonymous": int(bench.run_probe(_PROBE, str(bench.option("calls"))))}
