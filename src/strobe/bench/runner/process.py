"""One repeat of one cell: its worker process, or as many as it has devices, from start to outcome.

Workers run in a session of their own, so that Ctrl-C reaches only us and we end them, with all they started. A repeat
that fails, hangs or takes too much memory ends as a `Failure` that carries the last lines it wrote.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from strobe.bench.runner.memory import available_bytes, resident_bytes
from strobe.bench.runner.message import Job, Outcome
from strobe.bench.runner.options import Cell, Options

_POLL_S = 0.05
_MEMORY_SHARE = 0.9
_KEPT_LINES = 12
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no outcome: a headline, and below it the last lines that the worker wrote."""

    text: str


def run_repeat(cell: Cell, options: Options, *, is_checked: bool) -> Outcome | Failure:
    """Measure in fresh processes, and leave nothing behind."""
    directory = Path(tempfile.mkdtemp(prefix="strobe-bench-"))
    try:
        return _run_in(directory, cell, options, is_checked=is_checked)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _run_in(directory: Path, cell: Cell, options: Options, *, is_checked: bool) -> Outcome | Failure:
    jobs, ours = _plan(directory, cell, options, is_checked=is_checked)
    with _started(directory, jobs, ours, options) as workers:
        why = _wait(workers, options)
    if why is None:
        why = _death(workers)
    if why is not None:
        return Failure("\n".join([why, *_last_lines(directory, _first_to_blame(workers))]))
    outcomes = [msgspec.json.decode(Path(job.result).read_bytes(), type=Outcome) for job in jobs]
    return join_ranks(outcomes)


def _plan(directory: Path, cell: Cell, options: Options, *, is_checked: bool) -> tuple[list[Job], list[int]]:
    """Return a job per rank, and the file descriptors that were opened for them."""
    size = cell.benchmark.devices
    cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    threads = max(1, options.threads // size)
    pipes = [os.pipe() for _ in range(size - 1)]
    jobs = [
        Job(
            key=cell.benchmark.key,
            files=tuple(str(path.resolve()) for path in options.files),
            batch_size=cell.batch_size,
            seed=options.seed,
            device=_device_of(rank, options.device, size),
            threads=threads,
            cpus=tuple(_share(cpus, rank, threads)),
            seconds=options.seconds,
            scenario=options.scenario,
            is_checked=is_checked,
            result=str(directory / f"outcome-{rank}.json"),
            followers=tuple(write for _, write in pipes) if rank == 0 else (),
            leader=pipes[rank - 1][0] if rank else None,
        )
        for rank in range(size)
    ]
    return jobs, [descriptor for pipe in pipes for descriptor in pipe]


def _device_of(rank: int, device: str, size: int) -> str:
    return f"{device}:{rank}" if size > 1 and device == "cuda" else device


def _share(cpus: Sequence[int], rank: int, threads: int) -> Sequence[int]:
    """Return the CPUs of a rank: neighbours, each its own while there are enough."""
    start = rank * threads % max(1, len(cpus))
    return cpus[start : start + threads]


@contextmanager
def _started(
    directory: Path, jobs: Sequence[Job], ours: Sequence[int], options: Options
) -> Iterator[list[subprocess.Popen[bytes]]]:
    workers: list[subprocess.Popen[bytes]] = []
    group = _group_variables(len(jobs))
    try:
        for rank, job in enumerate(jobs):
            path = directory / f"job-{rank}.json"
            path.write_bytes(msgspec.json.encode(job))
            environment = {**os.environ, **{name: str(job.threads) for name in _THREAD_VARIABLES}}
            if group:
                environment |= {**group, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            with (directory / f"log-{rank}.txt").open("wb") as log:
                workers.append(
                    subprocess.Popen(
                        [options.python, "-m", "strobe.bench.runner.worker", str(path)],
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        env=environment,
                        start_new_session=True,
                        pass_fds=ours,
                    )
                )
        for descriptor in ours:
            os.close(descriptor)
        ours = []
        yield workers
    finally:
        for descriptor in ours:
            os.close(descriptor)
        for worker in workers:
            _end(worker)


def _group_variables(size: int) -> dict[str, str]:
    """Return what torchrun would set, so that workers find each other; nothing for one alone."""
    if size == 1:
        return {}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return {
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }


def _wait(workers: Sequence[subprocess.Popen[bytes]], options: Options) -> str | None:
    """Wait until all are done or one has failed; returns why they must end, if they must."""
    limit = options.memory_limit_bytes or round(_MEMORY_SHARE * available_bytes())
    deadline = time.monotonic() + options.timeout_s
    while any(worker.poll() is None for worker in workers):
        if any(worker.returncode for worker in workers):  # the others of its group would wait for ever
            return None
        if time.monotonic() > deadline:
            return f"not done after {options.timeout_s:g} s (--timeout)"
        if (used := resident_bytes(worker.pid for worker in workers)) > limit:
            return f"used {used / 1e9:.1f} GB, more than the {limit / 1e9:.1f} GB allowed (--memory-limit)"
        with suppress(subprocess.TimeoutExpired):
            next(worker for worker in workers if worker.returncode is None).wait(_POLL_S)
    return None


def _death(workers: Sequence[subprocess.Popen[bytes]]) -> str | None:
    worker = workers[_first_to_blame(workers)]
    if not worker.returncode:
        return None
    if worker.returncode < 0:
        name = signal.Signals(-worker.returncode).name
        return f"killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
    return f"failed with exit code {worker.returncode}"


def _first_to_blame(workers: Sequence[subprocess.Popen[bytes]]) -> int:
    """Return the rank that failed by itself rather than one that we ended for it."""
    failed = [rank for rank, worker in enumerate(workers) if worker.returncode]
    return next((rank for rank in failed if workers[rank].returncode > 0), failed[0] if failed else 0)


def _end(worker: subprocess.Popen[bytes]) -> None:
    """End the worker and what it started: compilers of torch live in its process group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()


def _last_lines(directory: Path, rank: int) -> list[str]:
    text = (directory / f"log-{rank}.txt").read_text(encoding="utf-8", errors="replace")
    return [line.rstrip() for line in text.splitlines() if line.strip()][-_KEPT_LINES:]


def join_ranks(outcomes: Sequence[Outcome]) -> Outcome:
    """Return rank 0's outcome with the memory of all ranks and the worst of their checks."""
    first = outcomes[0]
    checks = [outcome.correctness for outcome in outcomes if outcome.correctness is not None]
    wrong = next((check for check in checks if not check.is_correct), None)
    peak = sum(outcome.repeat.peak_rss_bytes for outcome in outcomes)
    return msgspec.structs.replace(
        first,
        correctness=wrong or first.correctness,
        repeat=msgspec.structs.replace(first.repeat, peak_rss_bytes=peak),
    )
