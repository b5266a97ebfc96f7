"""Sampling: first after a second, then at the interval, into a journal of its own."""

from __future__ import annotations

import pytest

from strobe.agent.sampler import Sampler

from .scene import MakeEntry, QuietLog, rows_of, watched
from .test_gpu import FakeNvml


@pytest.fixture
def sampler(log: QuietLog) -> Sampler:
    return Sampler(log=log.write, load_gpu=lambda: None)


def test_first_after_a_second_then_at_the_interval(sampler: Sampler, make_entry: MakeEntry) -> None:
    run = watched(make_entry(stats_interval_s=10.0))
    counts = []
    for now in (100.0, 100.5, 101.0, 105.0, 110.9, 111.2, 120.0, 121.0):
        sampler.poll(run, now)
        counts.append(len(rows_of(run.run_dir)))
    assert counts == [0, 0, 1, 1, 1, 2, 2, 3]


def test_a_suspended_machine_gets_one_row_not_many(sampler: Sampler, make_entry: MakeEntry) -> None:
    run = watched(make_entry(stats_interval_s=10.0))
    for now in (0.0, 1.0, 5000.0, 5000.1, 5001.0):
        sampler.poll(run, now)
    assert len(rows_of(run.run_dir)) == 2


def test_a_row_has_host_and_process_figures(sampler: Sampler, make_entry: MakeEntry) -> None:
    run = watched(make_entry())
    sampler.poll(run, 0.0)
    sampler.poll(run, 1.0)
    (row,) = rows_of(run.run_dir)
    wanted = {"system.memory_percent", "system.proc.memory.rssMB", "system.cpu", "system.disk./.usagePercent"}
    assert wanted <= row.keys()
    assert row["system.proc.count"] >= 1


def test_gpus_join_the_row(make_entry: MakeEntry, log: QuietLog) -> None:
    sampler = Sampler(log=log.write, load_gpu=FakeNvml)
    run = watched(make_entry())
    sampler.poll(run, 0.0)
    sampler.poll(run, 1.0)
    assert rows_of(run.run_dir)[0]["system.gpu.0.gpu"] == 90.0


def test_only_the_gpus_and_disks_asked_for(make_entry: MakeEntry, log: QuietLog) -> None:
    sampler = Sampler(log=log.write, load_gpu=FakeNvml)
    run = watched(make_entry(stats_gpu_ids=[1], stats_disk_paths=["/proc"]))
    sampler.poll(run, 0.0)
    sampler.poll(run, 1.0)
    (row,) = rows_of(run.run_dir)
    assert "system.gpu.1.gpu" in row
    assert not any(key.startswith("system.gpu.0") for key in row)
    assert "system.disk./proc.usagePercent" in row


def test_who_wants_no_stats_gets_none(sampler: Sampler, make_entry: MakeEntry) -> None:
    run = watched(make_entry(stats=False))
    sampler.poll(run, 0.0)
    sampler.poll(run, 1.0)
    assert rows_of(run.run_dir) == []


def test_nothing_is_said_about_the_dead(sampler: Sampler, make_entry: MakeEntry) -> None:
    run = watched(make_entry(pid=2**22 + 1))
    sampler.poll(run, 0.0)
    sampler.poll(run, 1.0)
    assert rows_of(run.run_dir) == []


def test_without_psutil_the_reason_is_logged_once(
    sampler: Sampler, make_entry: MakeEntry, log: QuietLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psutil", None)
    run = watched(make_entry())
    for now in (0.0, 1.0, 2.0):
        sampler.poll(run, now)
    assert len(log.lines) == 1
    assert "no system metrics" in log.lines[0]
