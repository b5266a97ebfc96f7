"""What the words for a side mean."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from strobe.bench.compare.selection import select
from strobe.bench.records import Environment, Record, append_records
from strobe.errors import UsageError
from tests.bench.results import HERE, result


def _session(number: int, commit: str) -> Environment:
    return msgspec.structs.replace(HERE, git_commit=commit, started_at=f"2026-11-{number:02}T00:00:00+00:00")


OLD = result([1.0], id="0001aaaaffff", environment=_session(1, "c0ffee1234"))
NEW = result([2.0], id="0002bbbbeeee", environment=_session(2, "beef567890"))
RECORDS = [OLD, NEW]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("latest", NEW),
        ("previous", OLD),
        ("c0ffee", OLD),
        ("beef567890", NEW),
        ("0001aaaa", OLD),
        ("bbbbeeee", NEW),
        ("main", NEW),
    ],
)
def test_words(word: str, found: object) -> None:
    assert select(word, RECORDS, {"main": "beef567890"}.get) == [found]


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    append_records(path, [OLD])
    assert select(str(path), []) == [OLD]


def test_a_commit_is_not_what_was_changed_on_top_of_it() -> None:
    """Else `compare main latest` compares the last session of an edited tree with itself."""
    edited = msgspec.structs.replace(_session(3, "c0ffee1234"), is_dirty=True)
    dirty = result([0.5], environment=edited)
    told: list[str] = []
    for word in ("c0ffee", "main"):
        found = select(word, [OLD, dirty], {"main": "c0ffee1234"}.get, report=told.append)
        assert (found, told) == ([OLD], [])
    assert select("c0ffee", [dirty], report=told.append) == [dirty]
    assert told == ["c0ffee: all results of this commit were measured with uncommitted changes"]


@pytest.mark.parametrize("word", ["nothing", "c0f", ""])
def test_what_is_not_there_is_said_with_what_is(word: str) -> None:
    with pytest.raises(UsageError, match=r"commits with results: c0ffee1234, beef567890"):
        select(word, RECORDS)


def test_the_session_before_is_one_of_the_same_rows() -> None:
    between = result([3.0], "other/micro/linear/one", environment=_session(2, "beef567890"))
    last = result([4.0], environment=_session(3, "beef567890"))
    assert select("previous", [OLD, between, last]) == [OLD]
    with pytest.raises(UsageError, match="no session before the latest"):
        select("previous", [OLD, between])


def _rows(number: int, *names: str, machine: str = "here") -> list[Record]:
    place = msgspec.structs.replace(_session(number, "beef567890"), hardware={"cpu": machine})
    return [result([1.0], f"toy/ootb/inference/{name}", environment=place) for name in names]


def test_a_row_that_was_measured_again_does_not_hide_the_session_before() -> None:
    """Smoke, a rerun of one row, smoke: the rerun has nothing to say about the other rows."""
    first, rerun, last = _rows(1, "a", "b", "c"), _rows(2, "b"), _rows(3, "a", "b", "c")
    told: list[str] = []
    assert select("previous", [*first, *rerun, *last], report=told.append) == first
    assert told == ["previous: the session of 2026-11-01T00:00:00+00:00, with 3 of the 3 rows of the latest"]
    assert select("previous", [*first, *_rows(2, "a", "b", "c", "d"), *last]) != first  # of equals the newest


def test_the_session_before_is_one_of_the_same_machine() -> None:
    here, there, last = _rows(1, "a"), _rows(2, "a", "b", machine="there"), _rows(3, "a", "b")
    assert select("previous", [*here, *there, *last]) == here
    assert select("previous", [*there, *last]) == there  # and `compare` says that it is another one


def test_trials_of_a_search_are_no_sessions() -> None:
    trials = [result([9.0], is_trial=True, environment=_session(day, "beef567890")) for day in (2, 4)]
    last = result([4.0], environment=_session(3, "beef567890"))
    assert select("latest", [OLD, *trials, last]) == [last]
    assert select("previous", [OLD, *trials, last]) == [OLD]


def test_sessions_that_are_not_there() -> None:
    with pytest.raises(UsageError, match=r"no session before the latest \(2026-11-01T00:00:00\+00:00\) measured any"):
        select("previous", [OLD])
    with pytest.raises(UsageError, match=r"`latest` needs a session, and there is none"):
        select("latest", [])
    with pytest.raises(UsageError, match="no results yet"):
        select("c0ffee", [])
