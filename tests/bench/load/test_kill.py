"""The kills are spread over what the promise names."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.bench.load.trackers import jsonl
from strobe.bench.load.worker import kill


def test_kills_cover_both_loops_and_both_targets() -> None:
    attempts = kill.plan(200)
    kinds = {(attempt.pause_s > 0, attempt.is_group) for attempt in attempts}
    assert len(attempts) == 200
    assert len(kinds) == 4
    assert len({attempt.delay_s for attempt in attempts}) == 200


def test_the_moments_are_the_same_for_every_tracker() -> None:
    assert kill.plan(20) == kill.plan(20)


class _Broken(jsonl.Tracker):
    def setup(self) -> None:
        raise RuntimeError("does not start")


@pytest.mark.slow
def test_a_victim_that_cannot_start_says_why(tmp_path: Path) -> None:
    (attempt,) = kill.plan(1)
    with pytest.raises(RuntimeError, match=r"ended on its own: RuntimeError\('does not start'\)"):
        kill.kill_one(lambda: _Broken(str(tmp_path), "offline", {}), attempt)
