"""The kills are spread over what the promise names."""

from __future__ import annotations

from strobe.bench.load.worker import kill


def test_kills_cover_both_loops_and_both_targets() -> None:
    attempts = kill.plan(200)
    kinds = {(attempt.pause_s > 0, attempt.is_group) for attempt in attempts}
    assert len(attempts) == 200
    assert len(kinds) == 4
    assert len({attempt.delay_s for attempt in attempts}) == 200


def test_the_moments_are_the_same_for_every_tracker() -> None:
    assert kill.plan(20) == kill.plan(20)
