"""What the processes of a repeat share: CPUs, of which there may be too few for each to have its own, and memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from strobe.bench import registry
from strobe.bench.machine import usable_cpus
from strobe.bench.runner import process
from strobe.bench.runner.message import Job
from strobe.bench.runner.options import Cell, Options
from strobe.bench.runner.process import Failure, _plan, crowding, run_repeat

OWN = Path(__file__).parents[1] / "own.py"


def _jobs(config: str, threads: int, num_cpus: int, monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(num_cpus)), raising=False)
    cell = Cell(registry.find_one(f"own/micro/test/{config}", [OWN]), 1)
    return _plan(Path("/nowhere"), cell, Options(threads=threads, files=(OWN,)), False, None)


@pytest.mark.parametrize(
    ("config", "threads", "num_cpus", "is_alone"),
    [
        ("Facts-2dev", 4, 4, True),
        ("Facts-2dev", 2, 64, True),
        ("Facts-2dev", 2, 1, False),
        ("Facts-2dev", 8, 4, False),
        ("Plain", 8, 4, True),
    ],
)
def test_ranks_are_alone_on_their_cpus_while_there_are_enough(
    config: str, threads: int, num_cpus: int, is_alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = _jobs(config, threads, num_cpus, monkeypatch)
    assert [job.is_alone for job in jobs] == [is_alone] * len(jobs)
    if is_alone and len(jobs) > 1:
        assert not set(jobs[0].cpus) & set(jobs[1].cpus)


@pytest.mark.parametrize(
    ("config", "threads", "num_cpus", "reasons"),
    [
        ("Facts-2dev", 2, 2, ()),
        ("Facts-2dev", 1, 1, ("2 processes share 1 CPU",)),
        ("Facts-2dev", 99, 2, ("99 threads share 2 CPUs",)),
        ("Plain", 99, 2, ("99 threads share 2 CPUs",)),
        ("Plain", 2, 64, ()),
        ("Plain", 2, 0, ()),  # nobody knows how many
    ],
)
def test_who_takes_turns_on_the_cpus_is_told(
    config: str, threads: int, num_cpus: int, reasons: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "usable_cpus", lambda: num_cpus)
    cell = Cell(registry.find_one(f"own/micro/test/{config}", [OWN]), 1)
    assert crowding(cell.benchmark, Options(threads=threads, files=(OWN,))) == reasons


def test_a_repeat_whose_threads_take_turns_says_so() -> None:
    cell = Cell(registry.find_one("own/micro/test/Plain", [OWN]), 1)
    threads = usable_cpus() + 1
    outcome = run_repeat(cell, Options(seconds=0.01, threads=threads, files=(OWN,)), is_checked=False)
    assert not isinstance(outcome, Failure)
    assert any(reason.startswith(f"{threads} threads share ") for reason in outcome.repeat.noisy)


def test_a_limit_of_no_memory_is_a_limit() -> None:
    cell = Cell(registry.find_one("own/micro/test/Plain", [OWN]), 1)
    outcome = run_repeat(cell, Options(seconds=0.01, memory_limit_bytes=0, files=(OWN,)), is_checked=False)
    assert isinstance(outcome, Failure)
    assert "more than the 0.0 GB allowed" in outcome.text
