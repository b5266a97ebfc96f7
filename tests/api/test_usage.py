"""Disk use adds up, counts a shared file once, and knows the quota."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from strobe.api.removal import oldest_runs
from strobe.api.usage import Usage, disk_bytes, measure, oldest
from strobe.errors import UsageError
from strobe.home import Home

from .conftest import MakeRun


def test_a_hard_link_counts_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 10_000)
    alone = disk_bytes(tmp_path)
    os.link(tmp_path / "a", tmp_path / "b")
    assert disk_bytes(tmp_path) == alone >= 10_000
    assert disk_bytes(tmp_path / "nothing") == 0


def test_parts_add_up(home: Home, make_run: MakeRun) -> None:
    run_dir = make_run("r1")
    run_dir.files.mkdir()
    (run_dir.files / "big").write_bytes(b"x" * 100_000)
    make_run("r2", project="other")
    home.artifacts.mkdir()
    (home.artifacts / "object").write_bytes(b"y" * 50_000)
    usage = measure(home)
    assert [run.run.id for run in usage.runs] == ["r1", "r2"]
    assert usage.runs[0].files_bytes >= 100_000
    assert usage.artifact_bytes >= 50_000
    assert [(project.project, project.num_runs) for project in usage.projects()] == [("proj", 1), ("other", 1)]
    assert usage.total_bytes == disk_bytes(home.path)
    assert usage.excess_bytes == 0
    assert usage.advice() is None


def test_an_empty_home_takes_nothing(tmp_path: Path) -> None:
    usage = measure(Home(tmp_path / "none"), quota_bytes=10)
    assert (usage.total_bytes, usage.excess_bytes, usage.runs) == (0, 0, [])


def test_advice_by_what_helps(tmp_path: Path) -> None:
    assert Usage(tmp_path, artifact_bytes=5_000_001, quota_bytes=1_000_000).advice() == (
        "strobe run rm --oldest 5MB --yes && strobe run trash empty --yes"
    )
    assert Usage(tmp_path, trash_bytes=5_000_000, quota_bytes=1_000_000).advice() == "strobe run trash empty --yes"


def test_the_oldest_by_last_change(home: Home, make_run: MakeRun) -> None:
    for number, run_id in enumerate(["c", "a", "b"]):
        for path in make_run(run_id).journal.iterdir():
            os.utime(path, (1000 + number, 1000 + number))
    usage = measure(home)
    assert [run.run.id for run in oldest(usage, num_runs=2)] == ["c", "a"]
    assert [run.run.id for run in oldest(usage, num_bytes=1)] == ["c"]
    assert [run.id for run in oldest_runs(home, "1")] == ["c"]
    with pytest.raises(UsageError, match="neither a number of runs nor a size"):
        oldest_runs(home, "some")


def test_a_running_run_is_never_among_the_oldest(home: Home, make_run: MakeRun) -> None:
    make_run("live", state=None)
    make_run("done")
    assert [run.id for run in oldest_runs(home, "5")] == ["done"]
