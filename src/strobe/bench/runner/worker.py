"""The process that measures: `python -m strobe.bench.runner.worker JOB`, where JOB is a file with a `Job`.

Order: pin, set up, compile, check an output against the reference, warm up, measure. The check comes first because a
training's loss has a known value only for the first steps. Ranks other than 0 of a group take the steps that rank 0
tells them to; a collective makes them wait for each other.
"""

from __future__ import annotations

import gc
import math
import os
import struct
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from strobe.bench import registry, serving
from strobe.bench.energy import open_meter
from strobe.bench.records import Correct, Repeat
from strobe.bench.runner import conditions, software
from strobe.bench.runner.loop import Loop, Samples, Warm
from strobe.bench.runner.memory import PeakMemory
from strobe.bench.runner.message import Job, Outcome, Served
from strobe.bench.spec import Benchmark, load_workload
from strobe.bench.workload import Correctness, Workload
from strobe.errors import UsageError

#: the step whose output is checked, and all before it are taken: training's loss depends on them
CHECKED_STEP = 2
_COUNT = struct.Struct("=q")


def main() -> None:
    """Do the job that the file named on the command line describes."""
    job = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Job)
    if job.cpus and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, job.cpus)
    benchmark = registry.find_one(job.key, [Path(name) for name in job.files])
    Path(job.result).write_bytes(msgspec.json.encode(_Measurement(job, benchmark).run()))


class _Measurement:
    def __init__(self, job: Job, benchmark: Benchmark) -> None:
        self._job = job
        self._benchmark = benchmark
        self._memory = PeakMemory()

    def run(self) -> Outcome:
        job = self._job
        began = time.perf_counter()
        workload = load_workload(self._benchmark)
        workload.setup(job.batch_size, job.seed, job.device, job.threads)
        built = time.perf_counter()
        workload.compile()
        compiled = time.perf_counter()
        loop = Loop(workload.step, fence=_fence(job.device), announce=self._announce)
        correctness = self._check(workload, loop)
        served = None
        if job.leader is not None:
            self._follow(loop)
            repeat = Repeat(wall_s=(), cpu_s=(), peak_rss_bytes=self._memory.read_bytes())
        else:
            repeat = self._measure(loop, loop.warm_up())
            if job.scenario == "serving":
                served = self._serve(loop)
            self._announce(0)
        return Outcome(
            repeat=msgspec.structs.replace(repeat, setup_s=built - began, compile_s=compiled - built),
            work=workload.work(),
            correctness=correctness,
            software=software.describe(job.threads),
            served=served,
        )

    def _check(self, workload: Workload, loop: Loop) -> Correct | None:
        """Compare; everybody in a group takes the steps, because others wait for them."""
        output = None
        for _ in range(CHECKED_STEP + 1):
            # The ranks need not be told: each takes these by itself.
            output = workload.step(loop.index)
            loop.index += 1
        self._memory.pause()
        if not self._job.is_checked:
            return None
        found = workload.check(output, workload.reference(CHECKED_STEP))
        del output
        gc.collect()
        self._memory.resume()
        return _as_record(found)

    def _measure(self, loop: Loop, warm: Warm) -> Repeat:
        job = self._job
        meter = open_meter(job.device)
        before = conditions.look(job.cpus)
        samples = loop.measure(warm, job.seconds)
        between = conditions.Between(before, conditions.look(job.cpus), len(job.cpus) or os.cpu_count() or 1)
        return _repeat(samples, warm, between, self._memory, meter.joule() if meter else None, bool(job.followers))

    def _serve(self, loop: Loop) -> Served:
        limit = self._benchmark.latency
        if limit is None:
            raise UsageError(f"{self._benchmark.key} has no latency limit, so no rate of queries is the best within it")

        def serve(num_queries: int) -> float:
            # A step always has the whole batch: a server that compiled for one shape pads, too.
            began = time.perf_counter()
            loop.take(1)
            return time.perf_counter() - began

        found = serving.find_best(serve, batch_size=self._job.batch_size, limit=limit, seed=self._job.seed)
        judged = found.best or min(found.trials, key=lambda trial: trial.qps)
        return Served(qps=found.best.qps if found.best else None, latency=judged.judged)

    def _announce(self, num_steps: int) -> None:
        for follower in self._job.followers:
            os.write(follower, _COUNT.pack(num_steps))

    def _follow(self, loop: Loop) -> None:
        for num_steps in _read_counts(self._job.leader):
            loop.take(num_steps)


def _read_counts(descriptor: int | None) -> Iterator[int]:
    """Yield what rank 0 announces, until it says 0 or is gone."""
    assert descriptor is not None
    while text := os.read(descriptor, _COUNT.size):
        (count,) = _COUNT.unpack(text)
        if count == 0:
            return
        yield count


def _repeat(
    samples: Samples,
    warm: Warm,
    between: conditions.Between,
    memory: PeakMemory,
    energy_j: float | None,
    is_group: bool,
) -> Repeat:
    return Repeat(
        wall_s=samples.wall_s,
        cpu_s=samples.cpu_s,
        inner_loops=samples.inner_loops,
        warmup_steps=warm.num_steps + CHECKED_STEP + 1,
        peak_rss_bytes=memory.read_bytes(),
        load_before=between.before.load,
        load_after=between.after.load,
        steal_percent=between.steal_percent,
        energy_j=energy_j,
        noisy=conditions.doubts(between, warm, samples, is_alone=not is_group),
    )


def _as_record(found: Correctness) -> Correct:
    return Correct(
        is_correct=found.is_correct,
        error=_finite(found.error),
        max_error=_finite(found.max_error),
        tolerance=found.tolerance,
        reference=found.reference,
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _fence(device: str) -> Callable[[], None]:
    if not device.startswith("cuda"):
        return lambda: None
    import torch

    return lambda: torch.cuda.synchronize(device)


if __name__ == "__main__":
    main()
