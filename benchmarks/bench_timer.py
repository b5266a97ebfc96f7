"""Whether torch's own timer sees what rows show: `python benchmarks/bench_timer.py`.

A row's figure is the median wall time of a step. Here `torch.utils.benchmark.Timer` measures the steps of the same
model on the same inputs and threads, in fresh processes of its own, in turns with the runner's. The ratio of both has
bounds of 95 % over all rows together: with several rows each has to be surer. They agree if the bounds hold 1; how far
apart the two could be at most, unnoticed, stands beside it, since bounds that are wide enough hold anything.

Both sides are told to keep the memory that steps free, as Optimized rows are: with glibc as it is, equal processes of
some rows run in one of two modes, a third apart, by what lies beside the memory that a step gets.

Prints a table and, as the last line, JSON; exits with 1 when a row disagrees.

    python benchmarks/bench_timer.py [ROW …] [--turns 10] [--seconds 2] [--threads N]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from strobe.bench import registry
from strobe.bench.compare.estimate import estimate
from strobe.bench.machine import usable_cpus
from strobe.bench.runner import allocator
from strobe.bench.runner.options import Cell, Options
from strobe.bench.runner.session import measure
from strobe.bench.runner.software import thread_variables
from strobe.bench.spec import Benchmark
from strobe.bench.table import markdown

#: one of each model, out of the box
ROWS = (
    "dlrm/ootb/inference/tiny-100k",
    "xlm-r/ootb/inference/base-s32-fp32",
    "cvt/ootb/inference/cvt-13-224x224-fp32",
    "oscar/ootb/inference/base-vqa-fp32",
    "rnn-t/ootb/inference/mlperf-inference-3s-fp32",
    "resnext3d/ootb/inference/101-32x4d-4x56-fp32",
    "regnety/ootb/inference/400MF-fp32",
)
#: a fresh process in which torch's timer takes whole turns over the batches; prints the middle seconds of a step.
#: It is warmed up for two seconds, about as long as the runner takes, so that both tell of the same state.
TIMER = """
import json, statistics, sys, time
from strobe.bench import registry
from strobe.bench.runner import affinity
from strobe.bench.spec import load_workload

key, batch_size, threads, seconds = json.loads(sys.argv[1])
affinity.pin(affinity.share(affinity.allowed_cpus(), 0, threads))
from torch.utils.benchmark import Timer
workload = load_workload(registry.find_one(key))
workload.setup(batch_size, 0, "cpu", threads)
workload.compile()
names = {"step": workload.step, "steps": iter(range(10**9))}
timer = Timer("step(next(steps))", globals=names, num_threads=threads)
began = time.perf_counter()
while time.perf_counter() < began + 2:
    workload.step(next(names["steps"]))
times, began = [], time.perf_counter()
while time.perf_counter() < began + seconds or len(times) < 2:
    times.append(timer.timeit(workload.turn).mean)
print(statistics.median(times))
"""
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Line:
    """One row: how many times what torch's timer sees the runner shows."""

    row: str
    ratio: float
    low: float
    high: float
    n: int

    @property
    def is_agreed(self) -> bool:
        return self.low <= 1.0 <= self.high

    @property
    def verdict(self) -> str:
        if not self.is_agreed:
            return "DIFFER"
        return f"agree; {100 * max(self.high - 1, 1 - self.low):.1f} % would go unnoticed"


def time_by_the_runner(benchmark: Benchmark, threads: int, seconds: float) -> float:
    """Return the step that a row of one process would be judged by."""
    options = Options(repeats=1, seconds=seconds, threads=threads)
    (record,) = measure([Cell(benchmark, benchmark.batch_sizes[0])], options).records
    if record.error:
        sys.exit(f"{benchmark.key}: {record.error}")
    return record.repeats[0].step_s


def time_by_torch(benchmark: Benchmark, threads: int, seconds: float) -> float:
    """Return the middle step that torch's timer sees in a process started as the runner starts its own."""
    job = json.dumps([benchmark.key, benchmark.batch_sizes[0], threads, seconds])
    done = subprocess.run(
        [sys.executable, "-c", TIMER, job],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, **thread_variables(threads)},
        start_new_session=True,
    )
    return float(done.stdout)


def judge(row: str, ours: Sequence[float], theirs: Sequence[float], num_rows: int) -> Line:
    """Hold steps that were measured in turns against each other."""
    confidence = 1 - (1 - _CONFIDENCE) / num_rows
    found = estimate(theirs, ours, "more", is_interleaved=True, confidence=confidence)
    assert found.low is not None, "one turn has no bounds"
    assert found.high is not None, "one turn has no bounds"
    return Line(row, found.value, found.low, found.high, found.n)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "rows", nargs="*", metavar="ROW", default=ROWS, help="keys of OOTB rows (default: seven models)"
    )
    parser.add_argument("--turns", type=int, default=10, help="processes of each (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of measuring in each (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=usable_cpus(), help="default: all CPUs")
    args = parser.parse_args()
    if args.turns < 2:
        parser.error(f"--turns: bounds need two turns, got {args.turns}")
    os.environ.update(allocator.variables("Optimized", os.environ))
    lines: list[Line] = []
    for key in args.rows:
        benchmark = registry.find_one(key)
        both: tuple[list[float], list[float]] = ([], [])
        for turn in range(args.turns):
            # In changing order, so that neither always comes right after the other.
            for look in (0, 1) if turn % 2 else (1, 0):
                take = (time_by_the_runner, time_by_torch)[look]
                both[look].append(take(benchmark, args.threads, args.seconds))
        lines.append(judge(key, *both, num_rows=len(args.rows)))
        print(f"{key}: {lines[-1].ratio:.3f}, {lines[-1].verdict}", file=sys.stderr, flush=True)
    header = ("row", "runner / torch's timer", "bounds", "n", "verdict")
    cells = [
        (one.row, f"{one.ratio:.3f}", f"{one.low:.3f} to {one.high:.3f}", str(one.n), one.verdict) for one in lines
    ]
    print(markdown(header, cells))
    print(json.dumps([asdict(one) for one in lines]))
    return 0 if all(one.is_agreed for one in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
