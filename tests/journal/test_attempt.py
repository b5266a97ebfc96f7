"""The state of an attempt that several processes wrote: who decides, and when it is over."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from strobe.journal.attempt import Attempt, Attempts
from strobe.journal.event import Ended, Started
from strobe.journal.segment import Header


class Story:
    """Starts and ends writers one after the other; the first is `w1`."""

    def __init__(self) -> None:
        self._attempts = Attempts()
        self._clock = itertools.count(1)
        self._headers: list[Header] = []

    def start(self, **started: Any) -> Header:
        header = Header(entity="e", project="p", run="r", writer=f"w{len(self._headers) + 1}")
        self._headers.append(header)
        self._attempts.note_started(header, Started(time_ns=next(self._clock), **started))
        return header

    def end(self, header: Header, state: str = "finished", **ended: Any) -> None:
        self._attempts.note_ended(header, Ended(time_ns=next(self._clock), state=state, **ended))

    @property
    def attempt(self) -> Attempt:
        (attempt,) = self._attempts.sorted()
        return attempt


def test_one_process_decides_alone() -> None:
    story = Story()
    only = story.start()
    assert (story.attempt.state, story.attempt.end, story.attempt.ended_ns) == ("running", None, None)
    story.end(only, "failed", exit_code=3)
    assert (story.attempt.state, story.attempt.ended_ns) == ("failed", 2)
    assert story.attempt.end is not None
    assert story.attempt.end.exit_code == 3


def test_others_than_the_primary_do_not_decide() -> None:
    story = Story()
    worker, primary = story.start(primary=False), story.start()
    story.end(worker, "failed")
    assert story.attempt.state == "running"
    story.end(primary)
    assert story.attempt.state == "finished"


@pytest.mark.parametrize(("second", "state"), [("finished", "failed"), ("killed", "failed")])
def test_of_several_primaries_the_last_ends_it_and_none_is_overlooked(second: str, state: str) -> None:
    story = Story()
    one, two = story.start(), story.start()
    story.end(one, "failed", exit_code=1)
    assert (story.attempt.state, story.attempt.ended_ns) == ("running", None)
    story.end(two, second, exit_code=0)
    assert (story.attempt.state, story.attempt.ended_ns) == (state, 4)
    assert story.attempt.end is not None
    assert story.attempt.end.exit_code == 1


def test_a_primary_that_was_started_again_takes_its_own_place() -> None:
    story = Story()
    story.end(story.start(), "crashed")
    again = story.start()
    assert story.attempt.state == "running"
    story.end(again)
    assert story.attempt.state == "finished"


def test_who_does_not_end_the_run_leaves_its_state_alone() -> None:
    story = Story()
    guest, host = story.start(ends_run=False), story.start()
    story.end(guest, "failed")
    assert story.attempt.state == "running"
    story.end(host)
    story.start(ends_run=False)
    assert story.attempt.state == "finished"


def test_where_nobody_ends_the_run_the_primary_does() -> None:
    story = Story()
    only = story.start(ends_run=False)
    assert story.attempt.state == "running"
    story.end(only, "failed")
    assert story.attempt.state == "failed"
