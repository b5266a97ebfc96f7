"""Attempts are numbered once, whoever starts at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from strobe.home import RunDir
from strobe.sdk.claim import claim_after, claim_attempt, join_launch, numbers


@pytest.fixture
def run_dir(tmp_path: Path) -> RunDir:
    return RunDir(tmp_path / "local" / "p" / "r")


def at_once(calls: list[Callable[[], int]]) -> list[int]:
    """Return what the calls answer when all are made at the same moment."""
    barrier = threading.Barrier(len(calls))
    found: list[int] = []

    def work(call: Callable[[], int]) -> None:
        barrier.wait()
        found.append(call())

    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(found)


def test_everybody_gets_a_number_of_their_own(run_dir: RunDir) -> None:
    assert at_once([lambda: claim_attempt(run_dir)] * 16) == list(range(1, 17))


def test_the_processes_of_a_launch_get_one_number(run_dir: RunDir) -> None:
    for launch in range(1, 20):
        assert at_once([lambda launch=launch: join_launch(run_dir, f"launch {launch}")] * 8) == [launch] * 8  # type: ignore[misc]


def test_two_launches_at_once_do_not_mix(run_dir: RunDir) -> None:
    assert join_launch(run_dir, "a") == 1
    assert join_launch(run_dir, "b") == 2
    assert join_launch(run_dir, "a") == 1
    assert claim_attempt(run_dir) == 3
    assert join_launch(run_dir, "b") == 2
    assert join_launch(run_dir, "c") == 4


def test_of_several_that_restart_a_run_one_makes_the_attempt(run_dir: RunDir) -> None:
    assert at_once([lambda: claim_after(run_dir, 0)] * 8) == [1] * 8
    assert at_once([lambda: claim_after(run_dir, 1)] * 8) == [2] * 8
    assert sorted(numbers(run_dir)) == [1, 2]


def test_a_file_system_without_links_will_do(run_dir: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    assert [join_launch(run_dir, "a"), join_launch(run_dir, "a"), join_launch(run_dir, "b")] == [1, 1, 2]


def test_nothing_but_attempts_is_left(run_dir: RunDir) -> None:
    join_launch(run_dir, "a")
    claim_attempt(run_dir)
    assert sorted(path.name for path in run_dir.attempts.iterdir()) == ["0001", "0002"]
