"""The process that measures: `python -m strobe.bench.runner.worker JOB`, where JOB is a file with a `Job`.

Order: pin, set up, compile, take the first steps, warm up, measure, check. What is checked is the output of one of the
first steps, because a training's loss has a known value only for those. The check itself comes last: it takes and frees
a lot of memory, and what a process has freed changes how fast malloc gives it more (RNN-T trained 35 % faster in the
repeat that had been checked before). Ranks other than 0 of a group take the steps that rank 0 tells them to; a
collective makes them wait for each other.
"""

from __future__ import annotations

import copy
import ctypes
import math
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from numbers import Integral
from pathlib import Path
from typing import Any

import msgspec

from strobe.bench import registry, serving
from strobe.bench.energy import open_meter
from strobe.bench.records import NOT_HERE, Correct, Repeat
from strobe.bench.runner import affinity, conditions, software
from strobe.bench.runner.group import Leader, counts_from_leader
from strobe.bench.runner.loop import Loop, Samples, Warm, no_garbage_collection
from strobe.bench.runner.memory import peak_bytes
from strobe.bench.runner.message import Job, Outcome, Seat, Served
from strobe.bench.spec import Benchmark, load_workload
from strobe.bench.workload import Correctness, NotHere, Work, Workload
from strobe.errors import UsageError

#: the step whose output is checked, and all before it are taken: training's loss depends on them
CHECKED_STEP = 2
_PR_SET_PDEATHSIG = 1
_CUT = "the search for a rate was ended by --timeout"


def main() -> None:
    """Do the job that the file named on the command line describes."""
    job = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Job)
    _die_with_parent(job.parent_pid)
    affinity.pin(job.cpus)
    benchmark = registry.find_one(job.key, [Path(name) for name in job.files])
    try:
        outcome = _Measurement(job, benchmark).run()
    except NotHere as exc:
        sys.exit(f"{NOT_HERE}{exc}")
    except NotImplementedError as exc:
        if job.device == "cpu":
            raise
        # How torch says that an operator was never written for a device.
        sys.exit(f"{NOT_HERE}{(str(exc) or repr(exc)).splitlines()[0]}")
    # Whole or not at all: it counts as soon as it is there.
    draft = Path(f"{job.result}.part")
    draft.write_bytes(msgspec.json.encode(outcome))
    draft.rename(job.result)
    _leave_group()


def _leave_group() -> None:
    """Leave the group that a workload has joined: threads of it that outlive the interpreter may abort the process."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()


def _die_with_parent(parent_pid: int) -> None:
    """Let the kernel end us when the parent is gone, however it went: nobody would read what we find."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent_pid:  # it went before we asked
            sys.exit("the process that started this is gone")


class _Measurement:
    def __init__(self, job: Job, benchmark: Benchmark) -> None:
        self._job = job
        self._benchmark = benchmark

    def run(self) -> Outcome:
        job = self._job
        began = time.perf_counter()
        workload = load_workload(self._benchmark)
        workload.setup(job.batch_size, job.seed, job.device, job.threads)
        built = time.perf_counter()
        workload.compile()
        compiled = time.perf_counter()
        output = self._take_first_steps(workload)
        served = None
        if job.seat.rank:
            loop = Loop(workload.step, fence=_fence(job.device), first=CHECKED_STEP + 1)
            # What stops this rank is waited for by the one that is timed.
            with no_garbage_collection():
                for num_steps in counts_from_leader(job.seat):
                    loop.take(num_steps)
            repeat = Repeat(wall_s=(), cpu_s=(), peak_rss_bytes=peak_bytes())
        else:
            leader = Leader(job.seat)
            loop = Loop(
                workload.step,
                fence=_fence(job.device),
                announce=leader.announce,
                first=CHECKED_STEP + 1,
                turn=_turn_of(workload),
            )
            repeat = self._measure(loop, loop.warm_up())
            if job.scenario == "serving":
                served = self._serve(loop, repeat.step_s)
                if served.is_cut:
                    repeat = msgspec.structs.replace(repeat, noisy=(*repeat.noisy, _CUT))
            leader.close()
        repeat = msgspec.structs.replace(
            repeat,
            setup_s=built - began,
            compile_s=compiled - built,
            peak_card_bytes=_peak_card_bytes(job.device),
        )
        return Outcome(
            repeat=repeat,
            work=_as_finite(workload.work()),
            correctness=_check(workload, output) if job.is_checked else None,
            software=software.describe(job.threads),
            served=served,
        )

    def _take_first_steps(self, workload: Workload) -> Any:
        """Return the output of the last of them, if it is to be checked."""
        output = None
        for index in range(CHECKED_STEP + 1):
            output = workload.step(index)
        return _copied(output) if self._job.is_checked else None

    def _measure(self, loop: Loop, warm: Warm) -> Repeat:
        job = self._job
        meter = open_meter(devices) if (devices := metered_devices(job.device, job.seat)) else None
        before = conditions.look(job.cpus)
        limit = self._benchmark.latency
        samples = loop.measure(warm, job.seconds, limit.limit_ms / 1e3 if limit else None)
        between = conditions.Between(before, conditions.look(job.cpus), len(job.cpus) or os.cpu_count() or 1)
        return _repeat(samples, warm, between, meter.joule() if meter else None, is_alone=job.is_alone)

    def _serve(self, loop: Loop, step_s: float) -> Served:
        limit = self._benchmark.latency
        if limit is None:
            raise UsageError(f"{self._benchmark.key} has no latency limit, so no rate of queries is the best within it")

        last_s = step_s

        def serve(num_queries: int) -> float:
            # A step always has the whole batch: a server that compiled for one shape pads, too.
            nonlocal last_s
            began = time.perf_counter()
            loop.take(1)
            last_s = time.perf_counter() - began
            return last_s

        found = serving.find_best(
            serve,
            batch_size=self._job.batch_size,
            step_s=step_s,
            limit=limit,
            seed=self._job.seed,
            is_over=lambda: time.monotonic() + last_s > self._job.until,
        )
        judged = found.best or min(found.trials, key=lambda trial: trial.qps, default=None)
        return Served(
            qps=found.best.qps if found.best else None,
            latency=judged.judged if judged else None,
            is_cut=found.is_cut,
        )


def _copied(output: Any) -> Any:
    """Return a copy, since later steps may write where this one did; of what cannot be copied, that itself."""
    try:
        return copy.deepcopy(output)
    except (TypeError, RuntimeError, copy.Error, pickle.PicklingError):  # such as a loss that knows how it came about
        return output


def _check(workload: Workload, output: Any) -> Correct:
    """Compare; every rank does so by itself, they meet in the workload's own exchanges."""
    return _as_record(workload.check(output, workload.reference(CHECKED_STEP)))


def _turn_of(workload: Workload) -> int:
    turn = getattr(workload, "turn", 1)
    if not isinstance(turn, Integral) or turn < 1:
        raise UsageError(
            f"`turn` of a workload is the number of steps after which their work comes again, got {turn!r}"
        )
    return int(turn)


def _repeat(
    samples: Samples,
    warm: Warm,
    between: conditions.Between,
    energy_j: float | None,
    *,
    is_alone: bool,
) -> Repeat:
    return Repeat(
        wall_s=samples.wall_s,
        cpu_s=samples.cpu_s,
        inner_loops=samples.inner_loops,
        turn=samples.turn,
        warmup_steps=warm.num_steps + CHECKED_STEP + 1,
        peak_rss_bytes=peak_bytes(),
        load_before=between.before.load,
        load_after=between.after.load,
        steal_percent=between.steal_percent,
        energy_j=energy_j,
        noisy=conditions.doubts(between, warm, samples, is_alone=is_alone),
    )


def _as_record(found: Correctness) -> Correct:
    """Return the check in Python's own values: numpy's, which comparing arrays gives, are not JSON's."""
    return Correct(
        is_correct=bool(found.is_correct),
        error=_finite(float(found.error)),
        max_error=_finite(float(found.max_error)),
        tolerance=float(found.tolerance),
        reference=found.reference,
    )


def _as_finite(work: Work) -> Work:
    """Return the work in Python's own numbers; JSON has no others, and none for what is not finite."""
    plain = Work(examples=float(work.examples), flops=float(work.flops), bytes=float(work.bytes))
    if not all(map(math.isfinite, (plain.examples, plain.flops, plain.bytes))):
        raise ValueError(f"the work of a step must be finite, got {work}")
    return plain


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def metered_devices(device: str, seat: Seat) -> list[str]:
    """Return the devices whose energy rank 0 can count for all ranks; none if some of them are on other nodes."""
    if seat.size > seat.per_node:
        return []
    # Ranks have a card each, from the first on.
    return [f"cuda:{rank}" for rank in range(seat.size)] if seat.size > 1 and device.startswith("cuda") else [device]


def _peak_card_bytes(device: str) -> int | None:
    """Return the most that torch's allocator has given out on the card."""
    if not device.startswith("cuda"):
        return None
    import torch

    return int(torch.cuda.max_memory_allocated(device))


def _fence(device: str) -> Callable[[], None]:
    if not device.startswith("cuda"):
        return lambda: None
    import torch

    return lambda: torch.cuda.synchronize(device)


if __name__ == "__main__":
    main()
