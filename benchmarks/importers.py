"""A million points of an event file: imported into a home, and read by TensorBoard's own EventAccumulator.

The file is written by TensorBoard's classes, in an environment of its own. Each reader is a fresh process that is warm
when the clock starts (imports are done), in turns; CPU time counts, because other programs take wall time from both.

    Strobe        reads, checks every record and writes the journal of the run: afterwards it is in the home
    TensorBoard   EventAccumulator with all points kept: afterwards they are in memory

Prints a table and, as the last line, JSON; exits with 1 unless Strobe takes at most as much CPU time.

    python benchmarks/importers.py [--points 1_000_000] [--repeat 3]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from strobe.bench.load import venvs

TENSORBOARD = "tensorboard==2.21.0"
AT_MOST = 1.0

_STROBE = """
import json, sys, time
from pathlib import Path
import numpy
from strobe.home import Home
from strobe.importers import Report, record
from strobe.importers.tensorboard import find_runs
wall, cpu = time.perf_counter(), time.process_time()
(run,) = find_runs([Path(sys.argv[1])], {})
outcome = record(Home(Path(sys.argv[2])), run, Report())
print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "points": outcome.rows}))
"""
_ACCUMULATOR = """
import json, sys, time
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
wall, cpu = time.perf_counter(), time.process_time()
log = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
log.Reload()
points = sum(len(log.Scalars(tag)) for tag in log.Tags()["scalars"])
print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "points": points}))
"""


def run(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    tracker = venvs.Package("tensorboard", (TENSORBOARD,))
    python = str(venvs.ensure(tracker, venvs.default_directory(), lambda text: print(text, file=sys.stderr)))
    samples: dict[str, list[dict[str, Any]]] = {"strobe": [], "tensorboard": []}
    with tempfile.TemporaryDirectory() as place:
        values = Path(place) / "values.npy"
        np.save(values, np.random.default_rng(0).normal(size=(1, args.points)))
        run([python, str(Path(__file__).parent / "tensorboard_points.py"), str(values), f"{place}/logs"])
        (events,) = Path(place, "logs").rglob("*tfevents*")
        for turn in range(args.repeat):
            samples["strobe"].append(run([sys.executable, "-c", _STROBE, f"{place}/logs", f"{place}/home{turn}"]))
            samples["tensorboard"].append(run([python, "-W", "ignore", "-c", _ACCUMULATOR, str(events.parent)]))
        size_mb = events.stat().st_size / 1e6
    return report(samples, args.points, size_mb)


def report(samples: dict[str, list[dict[str, Any]]], points: int, size_mb: float) -> int:
    print(f"{points:,} points, {size_mb:.0f} MB; medians of {len(samples['strobe'])}\n")
    print(f"{'':<12}{'CPU s':>8}{'wall s':>8}{'points/s of CPU':>18}")
    medians = {}
    for name, found in samples.items():
        assert all(sample["points"] == points for sample in found), f"{name} has not read every point"
        cpu, wall = (statistics.median(sample[kind] for sample in found) for kind in ("cpu", "wall"))
        medians[name] = cpu
        print(f"{name:<12}{cpu:>8.2f}{wall:>8.2f}{points / cpu:>18,.0f}")
    ratio = medians["strobe"] / medians["tensorboard"]
    print(f"\nStrobe takes {ratio:.2f} of TensorBoard's CPU time (at most {AT_MOST:.2f})")
    print(json.dumps({"points": points, "ratio": ratio, "samples": samples}))
    return 0 if ratio <= AT_MOST else 1


if __name__ == "__main__":
    sys.exit(main())
