"""Typed objects by key and step: the same as the journals' own history, with attempts superseded and forks."""

from __future__ import annotations

import random
import tempfile
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.home import RunPath
from strobe.store import objects as objects_module
from strobe.store.database import Database
from strobe.store.objects import LoggedValue, Objects
from strobe.store.runs import Runs
from tests.store.stories import PATH, Clock, Story, batches, send_shuffled
from tests.store.test_same_as_replay import ingest_into

#: (starts a new attempt, rewinds to a step or None, step, key, text)
ROWS = st.lists(
    st.tuples(
        st.booleans(),
        st.none() | st.integers(0, 9),
        st.integers(0, 12),
        st.sampled_from(["a", "b"]),
        st.text(max_size=3),
    ),
    min_size=1,
    max_size=25,
)
EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _tell(directory: Path, rows: Sequence[tuple[bool, int | None, int, str, str]], path: RunPath = PATH) -> Story:
    story = Story(directory, Clock(), path)
    writer = None
    for is_new, rewind, step, key, text in rows:
        if writer is None or is_new:
            if writer is not None:
                writer.close()
            writer = story.start(from_step=rewind if story.attempt else None)
        writer.row({key: {"_type": "note", "text": text} if text else text}, step)
    assert writer is not None
    writer.close()
    return story


def _plain(items: list[LoggedValue]) -> list[tuple[int, Any]]:
    return [(item.step, item.value) for item in items]


@EXAMPLES
@given(ROWS, st.integers(0, 2**32), st.integers(0, 12), st.integers(0, 12), st.integers(1, 4))
def test_objects_are_those_of_the_history(
    database: Database,
    rows: Sequence[tuple[bool, int | None, int, str, str]],
    seed: int,
    low: int,
    high: int,
    limit: int,
) -> None:
    path = RunPath("local", "p", uuid.uuid4().hex)
    with tempfile.TemporaryDirectory() as directory:
        story = _tell(Path(directory), rows, path)
        send_shuffled(
            ingest_into(database), batches(story.run_dir, random.Random(seed)), random.Random(seed), story.clock
        )
        history = list(story.replay().rows())
    run_id, objects = Runs(database).find(path).id, Objects(database)
    listed = {item.key: item for item in objects.keys(run_id)}
    for key in ("a", "b"):
        expected = [(row["_step"], row[key]) for row in history if key in row]
        assert _plain(objects.of_key(run_id, key).items) == expected
        assert _plain(objects.of_key(run_id, key, is_descending=True).items) == expected[::-1]
        assert _paged(objects, run_id, key, low, high, limit) == [pair for pair in expected if low <= pair[0] <= high]
        assert objects.steps(run_id, [key, "c"]) == {key: [step for step, _ in expected], "c": []}
        before = [pair for pair in expected if pair[0] <= low]
        nearest = objects.nearest(run_id, ["a", "b", "c"], low)
        assert [(nearest[key].step, nearest[key].value)] == before[-1:] if before else key not in nearest
        if expected:
            assert (listed[key].first_step, listed[key].last_step) == (expected[0][0], expected[-1][0])
            assert set(listed[key].types) >= {"note" if item else "text" for _, item in expected}
        else:
            assert key not in listed


def _paged(objects: Objects, run_id: int, key: str, low: int, high: int, limit: int) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    first: int | None = low
    while first is not None and first <= high:
        page = objects.of_key(run_id, key, first=first, last=high, limit=limit)
        assert len(page.items) <= limit
        found += _plain(page.items)
        first = page.next_step
    return found


def test_a_fork_has_what_it_took_over(database: Database, tmp_path: Path) -> None:
    parent = _tell(tmp_path / "1", [(False, None, step, "a", f"p{step}") for step in range(5)])
    fork = Story(tmp_path / "2", parent.clock, RunPath("local", "p", "fork"))
    writer = fork.start(forked_from=str(PATH), fork_step=2)
    writer.row({"a": "mine"}, 4)
    writer.close()
    for story in (parent, fork):
        send_shuffled(ingest_into(database), batches(story.run_dir, random.Random(1)), random.Random(1), story.clock)
    run_id, objects = Runs(database).find(fork.path).id, Objects(database)
    assert [item.step for item in objects.of_key(run_id, "a").items] == [0, 1, 2, 4]
    assert objects.nearest(run_id, ["a"], 3)["a"].value["text"] == "p2"
    assert [(item.first_step, item.last_step, item.types) for item in objects.keys(run_id)] == [
        (0, 4, ["note", "text"])
    ]


def test_what_one_attempt_logged_can_be_seen_when_it_was_superseded(database: Database, tmp_path: Path) -> None:
    story = _tell(tmp_path, [(False, None, step, "a", "old") for step in range(4)] + [(True, None, 1, "a", "new")])
    send_shuffled(ingest_into(database), batches(story.run_dir, random.Random(1)), random.Random(1), story.clock)
    run_id, objects = Runs(database).find(PATH).id, Objects(database)
    assert [item.step for item in objects.of_key(run_id, "a").items] == [0, 1]
    assert [item.step for item in objects.of_key(run_id, "a", attempt=1).items] == [0, 1, 2, 3]


def test_an_answer_is_bounded_in_bytes(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects_module, "MAX_BYTES", 2500)
    story = _tell(tmp_path, [(False, None, step, "a", "x" * 1000) for step in range(4)])
    send_shuffled(ingest_into(database), batches(story.run_dir, random.Random(1)), random.Random(1), story.clock)
    page = Objects(database).of_key(Runs(database).find(PATH).id, "a")
    assert ([item.step for item in page.items], page.next_step) == ([0, 1], 2)
