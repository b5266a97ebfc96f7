"""What a row spends its time on, OOTB and Optimized: `python benchmarks/bench_profile.py ROW`.

ROW is an Optimized benchmark's key; its OOTB row is profiled before it, on the same inputs and threads, by torch's
profiler. Kernels in C are calls that the profiler does not see, so they are marked here, each by its file and name.
Prints a table for each: the operators with the most time of their own, their share of the steps and how often a step
calls them; what is in none of them is Python and the way between operators. Both run in one process, with malloc as it
is: page faults of Optimized are more than in its row, whose processes keep what they free.

    python benchmarks/bench_profile.py regnety/optimized/inference/400MF-fp32 [--batch 8] [--threads 2] [--top 12]
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.autograd.profiler_util import EventList
from torch.profiler import ProfilerActivity, profile, record_function

from strobe.bench import registry
from strobe.bench.machine import usable_cpus
from strobe.bench.spec import Benchmark, load_workload
from strobe.bench.table import markdown
from strobe.bench.workload import NotHere
from strobe.bench.workloads.layers import native

_EXPORTED = re.compile(r"^void (\w+)\(", re.MULTILINE)
_WARM_UP_S, _PROFILED_S = 2.0, 3.0


def mark_kernels(files: str = "*.c") -> None:
    """Let every call of a kernel in C be an event of its own; workloads that are made later find them marked."""
    for source in sorted(Path(native.__file__).parent.glob(files)):
        try:
            library = native.load_kernels(source.stem)
        except NotHere as exc:
            print(f"{exc}; not marked", file=sys.stderr)
            continue
        for name in _EXPORTED.findall(source.read_text(encoding="utf-8")):
            setattr(library, name, _marked(f"{source.name} {name}", getattr(library, name)))


def _marked(title: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        with record_function(title):
            return call(*arguments)

    return run


def profile_row(benchmark: Benchmark, batch_size: int, threads: int) -> tuple[EventList, int, float]:
    """Return the events of some seconds of steps, how many steps those were, and the seconds that they took."""
    workload = load_workload(benchmark)
    workload.setup(batch_size, 0, "cpu", threads)
    workload.compile()
    began, index = time.perf_counter(), 0
    while index < 3 or time.perf_counter() - began < _WARM_UP_S:
        workload.step(index)
        index += 1
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        began, num_steps = time.perf_counter(), 0
        while num_steps < 3 or time.perf_counter() - began < _PROFILED_S:
            workload.step(index + num_steps)
            num_steps += 1
        took_s = time.perf_counter() - began
    return profiler.key_averages(), num_steps, took_s


def describe(events: EventList, num_steps: int, took_s: float, top: int) -> str:
    """Return the table; times are those of the calling thread, which waits for the others."""
    largest = sorted(events, key=lambda event: -event.self_cpu_time_total)
    lines = [
        (
            event.key,
            f"{event.self_cpu_time_total / 1e3 / num_steps:.2f}",
            f"{event.self_cpu_time_total / 1e4 / took_s:.1f} %",
            f"{event.count / num_steps:.0f}",
        )
        for event in largest[:top]
    ]
    rest_ms = sum(event.self_cpu_time_total for event in largest[top:]) / 1e3
    between_ms = 1e3 * took_s - sum(event.self_cpu_time_total for event in largest) / 1e3
    for name, ms in (("all other operators", rest_ms), ("between operators", max(0.0, between_ms))):
        lines.append((name, f"{ms / num_steps:.2f}", f"{ms / 10 / took_s:.1f} %", ""))
    return markdown(("operator", "ms per step", "share", "calls per step"), lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row", metavar="ROW", help="key of an Optimized benchmark, or of any other alone")
    parser.add_argument("--batch", type=int, metavar="N", help="default: the first that is declared")
    parser.add_argument("--threads", type=int, default=usable_cpus(), metavar="N", help="default: all CPUs")
    parser.add_argument("--top", type=int, default=12, metavar="N", help="operators to show (default: %(default)s)")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    mark_kernels()
    for one in registry.with_partners([registry.find_one(args.row)]):
        batch_size = args.batch or one.batch_sizes[0]
        events, num_steps, took_s = profile_row(one, batch_size, args.threads)
        print(
            f"\n**{one.key}**, {batch_size} examples, {args.threads} threads: {1e3 * took_s / num_steps:.2f} ms a step"
        )
        print(f"({num_steps} steps under the profiler, which adds to every call)\n")
        print(describe(events, num_steps, took_s, args.top), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
