"""One repeat of one cell: its worker process, or as many as it has devices, from start to outcome.

Workers run in a session of their own, so that Ctrl-C reaches only us and we end them, with all they started. A repeat
that fails, hangs or takes too much memory ends as a `Failure` that carries the last lines it wrote.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from strobe.bench.machine import usable_cpus
from strobe.bench.records import NOT_HERE
from strobe.bench.runner import affinity, allocator
from strobe.bench.runner.device import find_shortage
from strobe.bench.runner.group import free_ports, variables
from strobe.bench.runner.launcher import without_launcher
from strobe.bench.runner.memory import TreeMemory, available_bytes, descendants
from strobe.bench.runner.message import Job, Meeting, Outcome, Seat
from strobe.bench.runner.options import Cell, Options
from strobe.bench.runner.software import thread_variables
from strobe.bench.spec import Benchmark

_POLL_S = 0.05
_MEMORY_SHARE = 0.9
_KEPT_LINES = 12
_KEPT_BYTES = 1 << 16
_END_LIMIT_S = 30.0
#: for a process to end by itself once its outcome is written
_LEAVE_S = 5.0
#: of a process's time, for searches in it; the rest is for checking an output, and for writing down what was found
_SEARCH_SHARE, _SEARCH_SHARE_OF_CHECKED = 0.9, 2 / 3


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no outcome: a headline, and below it the last lines that the worker wrote."""

    text: str


def _nobody() -> str | None:
    return None


def run_repeat(
    cell: Cell,
    options: Options,
    *,
    is_checked: bool,
    meeting: Meeting | None = None,
    blame: Callable[[], str | None] = _nobody,
) -> Outcome | Failure:
    """Measure in fresh processes, and leave nothing behind.

    With several nodes, this node's part is measured: `meeting` is where all of them meet, `blame` is asked meanwhile
    what has failed elsewhere, if something has.
    """
    if missing := _find_missing(cell.benchmark, options):
        return Failure(f"{NOT_HERE}{missing}")
    try:
        directory = Path(tempfile.mkdtemp(prefix="strobe-bench-"))
        try:
            jobs = _plan(directory, cell, options, is_checked, meeting)
            kept = allocator.variables(cell.benchmark.implementation, os.environ)
            outcome = _run_in(directory, jobs, options, kept, blame)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    except (OSError, msgspec.DecodeError) as exc:  # a full disk, no ports, an outcome that is none
        return Failure(f"{type(exc).__name__}: {exc}")
    if isinstance(outcome, Failure):
        return outcome
    noisy = (*outcome.repeat.noisy, *crowding(cell.benchmark, options))
    return msgspec.structs.replace(outcome, repeat=msgspec.structs.replace(outcome.repeat, noisy=noisy))


def crowding(benchmark: Benchmark, options: Options) -> tuple[str, ...]:
    """Return that processes or threads of a repeat have to take turns on the CPUs, if so."""
    cpus = usable_cpus()
    for name, count in (("processes", benchmark.devices), ("threads", options.threads)):
        if count > cpus > 0:
            return (f"{count} {name} share {cpus} CPU{'s' if cpus > 1 else ''}",)
    return ()


def _find_missing(benchmark: Benchmark, options: Options) -> str | None:
    if benchmark.nodes > 1 and options.master is None:
        return f"needs {benchmark.nodes} nodes; run it on each with --node N --master HOST:PORT"
    if benchmark.needs_cuda and not options.device.startswith("cuda"):
        return "needs CUDA"
    return find_shortage(options.device, benchmark.devices, options.python)


def _run_in(
    directory: Path,
    jobs: Sequence[Job],
    options: Options,
    kept: Mapping[str, str],
    blame: Callable[[], str | None],
) -> Outcome | Failure:
    with _started(directory, jobs, options, kept) as workers:
        why = _wait(workers, jobs, options, blame)
        # Before the others are ended: whom we kill for it has not failed.
        codes = [worker.returncode for worker in workers]
    # Who has written its outcome has measured, however it ended after that.
    if not (left := [rank for rank, job in enumerate(jobs) if not _is_done(job)]):
        return join_ranks([msgspec.json.decode(Path(job.result).read_bytes(), type=Outcome) for job in jobs])
    blamed = _first_to_blame({rank: codes[rank] for rank in left})
    lines = _last_lines(directory, blamed)
    if why is None and lines and lines[-1].startswith(NOT_HERE):  # the worker itself has found that out
        return Failure(lines[-1])
    return Failure("\n".join([why or _death(codes[blamed] or 0, lines), *lines]))


def _is_done(job: Job) -> bool:
    return Path(job.result).exists()


def _plan(directory: Path, cell: Cell, options: Options, is_checked: bool, meeting: Meeting | None) -> list[Job]:
    """Return a job per process on this node."""
    per_node = cell.benchmark.devices
    cpus = affinity.allowed_cpus()
    threads = options.threads_each(cell.benchmark)
    seat = _first_seat(cell, meeting)
    share = _SEARCH_SHARE_OF_CHECKED if is_checked else _SEARCH_SHARE
    return [
        Job(
            key=cell.benchmark.key,
            files=tuple(str(path.resolve()) for path in options.files),
            batch_size=cell.batch_size,
            seed=options.seed,
            device=_device_of(local_rank, options.device, per_node),
            threads=threads,
            cpus=tuple(affinity.share(cpus, local_rank, threads)),
            seconds=options.seconds,
            scenario=options.scenario,
            is_checked=is_checked,
            result=str(directory / f"outcome-{local_rank}.json"),
            parent_pid=os.getpid(),
            until=time.monotonic() + share * options.timeout_s,
            seat=msgspec.structs.replace(seat, rank=options.node * per_node + local_rank),
            is_alone=per_node == 1 or per_node * threads <= len(cpus),
        )
        for local_rank in range(per_node)
    ]


def _first_seat(cell: Cell, meeting: Meeting | None) -> Seat:
    size = cell.benchmark.devices * cell.benchmark.nodes
    if size == 1:
        return Seat()
    if meeting is None:
        port, own_port = free_ports(2)
        meeting = Meeting(port=port, own_port=own_port)
    return Seat(size=size, per_node=cell.benchmark.devices, meeting=meeting)


def _device_of(rank: int, device: str, size: int) -> str:
    return f"{device}:{rank}" if size > 1 and device == "cuda" else device


@contextmanager
def _started(
    directory: Path, jobs: Sequence[Job], options: Options, kept: Mapping[str, str]
) -> Iterator[list[subprocess.Popen[bytes]]]:
    workers: list[subprocess.Popen[bytes]] = []
    try:
        for number, job in enumerate(jobs):
            path = directory / f"job-{number}.json"
            path.write_bytes(msgspec.json.encode(job))
            with (directory / f"log-{number}.txt").open("wb") as log:
                workers.append(
                    subprocess.Popen(
                        [options.python, "-m", "strobe.bench.runner.worker", str(path)],
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        env={
                            **without_launcher(os.environ),
                            **kept,
                            **thread_variables(job.threads),
                            **variables(job.seat),
                        },
                        start_new_session=True,
                    )
                )
        yield workers
    finally:
        for worker in workers:
            _end(worker)


def _wait(
    workers: Sequence[subprocess.Popen[bytes]],
    jobs: Sequence[Job],
    options: Options,
    blame: Callable[[], str | None],
) -> str | None:
    """Wait until all are done or one has failed; returns why they must end, if they must."""
    limit = options.memory_limit_bytes
    if limit is None:
        limit = round(_MEMORY_SHARE * available_bytes())
    deadline = time.monotonic() + options.timeout_s
    memory = TreeMemory(worker.pid for worker in workers)
    # A list: all are asked, so that a death is seen also behind one that lives.
    while any([worker.poll() is None for worker in workers]):  # noqa: C419 - see above
        undone = [worker for worker, job in zip(workers, jobs, strict=True) if not _is_done(job)]
        if any(worker.returncode for worker in undone):  # the others of its group would wait for ever
            return None
        if not undone:  # a thread that the workload left running may keep a process from its end
            deadline = min(deadline, time.monotonic() + _LEAVE_S)
        if time.monotonic() > deadline:
            return f"not done after {options.timeout_s:g} s (--timeout)"
        if (used := memory.above(limit)) is not None:
            return f"used {used / 1e9:.1f} GB, more than the {limit / 1e9:.1f} GB allowed (--memory-limit)"
        if (why := blame()) is not None:
            return why
        with suppress(subprocess.TimeoutExpired):
            next(worker for worker in workers if worker.returncode is None).wait(_POLL_S)
    return None


def _death(code: int, last_lines: Sequence[str]) -> str:
    """Return what a process ended by, in a line: its last one, where an exception has its name."""
    if code == 0:
        return "ended before it was done (exit code 0)"
    if code < 0:
        # Those of real time have no names.
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        return f"killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
    return f"{last_lines[-1] if last_lines else 'failed without a word'} (exit code {code})"


def _first_to_blame(codes: Mapping[int, int | None]) -> int:
    """Return the rank that failed first, as far as that can be told, given how those have ended that are not done."""
    failed = [(rank, code) for rank, code in codes.items() if code]
    # One that was killed left no word, and those that missed it raised an error about that.
    killed = [rank for rank, code in failed if code < 0]
    return next(iter([*killed, *(rank for rank, _ in failed), *codes]))


def _end(worker: subprocess.Popen[bytes]) -> None:
    """End the worker and what it started: compilers of torch live in its process group, others may have left it."""
    family = descendants(worker.pid)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(worker.pid, signal.SIGKILL)
    for pid in family:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    # One that hangs in a driver cannot be ended, and must not keep the rows that come after it.
    with suppress(subprocess.TimeoutExpired):
        worker.wait(_END_LIMIT_S)


def _last_lines(directory: Path, rank: int) -> list[str]:
    with (directory / f"log-{rank}.txt").open("rb") as stream:
        # A worker may have written gigabytes.
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - _KEPT_BYTES))
        text = stream.read().decode("utf-8", errors="replace")
    return [line.rstrip() for line in text.splitlines() if line.strip()][-_KEPT_LINES:]


def join_ranks(outcomes: Sequence[Outcome]) -> Outcome:
    """Return rank 0's outcome with the memory of all ranks and cards, their machines, and the first wrong check."""
    first = outcomes[0]
    checks = [outcome.correctness for outcome in outcomes if outcome.correctness]
    peak = sum(outcome.repeat.peak_rss_bytes for outcome in outcomes)
    cards = [size for outcome in outcomes if (size := outcome.repeat.peak_card_bytes) is not None]
    return msgspec.structs.replace(
        first,
        correctness=next((check for check in checks if not check.is_correct), first.correctness),
        machines=tuple(dict.fromkeys(name for outcome in outcomes for name in outcome.machines)),
        repeat=msgspec.structs.replace(
            first.repeat, peak_rss_bytes=peak, peak_card_bytes=sum(cards) if cards else None
        ),
    )
