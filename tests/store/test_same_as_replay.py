"""The store gives the same answers as the journals, whatever the cutting, order and repetition of batches."""

from __future__ import annotations

import itertools
import math
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from strobe.home import RunPath
from strobe.journal import Replay, Writer
from strobe.journal import event as ev
from strobe.journal.value import HOLE_VALUE, with_bigints
from strobe.store import tail
from strobe.store.alerts import Alerts
from strobe.store.charts import Charts
from strobe.store.database import Database
from strobe.store.history import iter_history
from strobe.store.ingest import Ingest
from strobe.store.lines import read_book
from strobe.store.quotas import Quotas
from strobe.store.runs import Runs
from strobe.store.series import Window
from tests.store.stories import PATH, Clock, Story, batches, overlapping, send_shuffled, take


def ingest_into(database: Database) -> Ingest:
    return Ingest(database, alerts=Alerts(database), quotas=Quotas(database))


def same(left: Any, right: Any) -> bool:
    """Tell whether two values are the same, where NaN is itself and 1 is not 1.0."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    return type(left) is type(right) and bool(left == right)


def _rounded(summary: dict[str, Any]) -> dict[str, Any]:
    return {
        key: {mode: float(f"{number:.12g}") if mode == "mean" and number else number for mode, number in item.items()}
        if isinstance(item, dict)
        else item
        for key, item in summary.items()
    }


def history(database: Database, path: RunPath = PATH, **options: Any) -> list[dict[str, Any]]:
    run_id = Runs(database).find(path).id
    return database.read(lambda cursor: list(iter_history(cursor, read_book(cursor, run_id), **options)))


def assert_same(database: Database, replay: Replay, path: RunPath = PATH) -> None:
    view = Runs(database).get(path)
    assert same(view.config, replay.config)
    assert same(view.attributes, replay.attributes)
    assert view.row.state == replay.state
    assert [attempt.number for attempt in view.attempts] == [attempt.number for attempt in replay.attempts]
    expected = [row for row in replay.rows() if len(row) > 3]
    found = history(database, path)
    assert [row["_step"] for row in found] == [row["_step"] for row in expected]
    for row, wanted in zip(found, expected, strict=True):
        assert same(row, wanted), (row, wanted)
    assert same(history(database, path, rows_at_once=3), found)
    # A mean is a sum in another order, so its last digit may differ.
    assert same(_rounded(view.summary), _rounded(replay.summary)), (view.summary, replay.summary)
    for attempt in replay.attempts:
        wanted_rows = [row for row in replay.rows(attempt=attempt.number) if len(row) > 3]
        assert same(history(database, path, attempt=attempt.number), wanted_rows)


numbers = st.floats(width=32) | st.integers(-5, 5) | st.sampled_from([math.nan, math.inf, 2**53 + 1, 2**70, True])
items = (
    numbers
    | st.text(max_size=3)
    | st.none()
    | st.lists(numbers, max_size=2)
    | st.dictionaries(st.sampled_from(["x", "y"]), numbers | st.text(max_size=2), max_size=2)
)
keys = st.sampled_from(["loss", "acc", "deep"])
rows = st.dictionaries(keys, items, min_size=1, max_size=3)
steps = st.integers(0, 12)
scalar_rows = st.dictionaries(keys, numbers, min_size=1, max_size=3)
actions = st.one_of(
    st.tuples(st.just("row"), rows, steps),
    st.tuples(st.just("row"), scalar_rows, steps),
    st.tuples(st.just("attempt"), st.none() | steps),
    st.tuples(st.just("rank")),
    st.tuples(st.just("hole"), keys, steps, numbers),
    st.tuples(st.just("config"), st.dictionaries(st.sampled_from("ab"), items, max_size=2), st.booleans()),
    st.tuples(st.just("summary"), keys, items, st.booleans()),
    st.tuples(
        st.just("define"), keys, st.sampled_from(["min", "max", "mean", "first", "last", "best", "none", "copy"])
    ),
    st.tuples(st.just("end"), st.sampled_from(["finished", "failed", "killed"])),
)


def tell(story: Story, told: list[tuple[Any, ...]], rng: random.Random) -> None:
    """Write what happened to journals."""
    writers: list[Writer] = [story.start(attributes={"name": "n", "tags": ["a"]})]
    for action, *arguments in told:
        writer = rng.choice(writers)
        if action == "row":
            writer.row(with_bigints(arguments[0]), arguments[1])
        elif action == "attempt":
            writers = [story.start(from_step=arguments[0])]
        elif action == "rank":
            writers.append(story.join("rank"))
        elif action == "hole":
            key, step, number = arguments
            sequence = writer.row({key: HOLE_VALUE, "other": 1}, step)
            if rng.random() < 0.8:
                writer.fill(sequence, step, story.clock.now_ns, {key: with_bigints(number)})
        elif action == "config":
            changes, removes = arguments
            removed = ["a"] if removes else []
            writer.event(ev.Config(time_ns=story.clock(), changes=with_bigints(changes), removed=removed))
        elif action == "summary":
            key, item, removes = arguments
            changes = {} if removes else {key: with_bigints(item)}
            writer.event(ev.Summary(time_ns=story.clock(), changes=changes, removed=[key] if removes else []))
        elif action == "define":
            writers[0].event(ev.Metric(time_ns=story.clock(), name=arguments[0], summary=[arguments[1]]))
        else:
            writers[0].event(ev.Ended(time_ns=story.clock(), state=arguments[0]))


@contextmanager
def _ticking() -> Iterator[Clock]:
    clock = Clock()
    with mock.patch("strobe.journal.writer.time_ns", clock):
        yield clock


_numbers = itertools.count()


@pytest.mark.parametrize("max_rows", [1, 4, 4096])
@given(told=st.lists(actions, max_size=25), seed=st.integers(0, 2**32))
@example(told=[("row", {"loss": 2**70}, 1), ("row", {"loss": 1.5}, 1)], seed=0)
@example(
    told=[
        ("row", {"acc": 0.0}, 0),
        ("summary", "acc", 1.0, False),
        ("row", {"loss": 1.0}, 0),
        ("attempt", 1),
    ],
    seed=0,
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_store_equals_journals(database: Database, told: list[Any], seed: int, max_rows: int) -> None:
    rng = random.Random(seed)
    with _ticking() as clock, tempfile.TemporaryDirectory() as directory:
        # Runs do not disturb each other, so each example is a run of its own in the one database.
        path = RunPath("local", "p", f"r{next(_numbers)}")
        story = Story(Path(directory), clock, path)
        with mock.patch.object(tail, "MAX_ROWS", max_rows):
            tell(story, told, rng)
            send_shuffled(ingest_into(database), batches(story.run_dir, rng), rng, clock)
        assert_same(database, story.replay(), path)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_sent_again_together_with_more_counts_once(database: Database, seed: int) -> None:
    rng = random.Random(seed)
    with _ticking() as clock, tempfile.TemporaryDirectory() as directory:
        path = RunPath("local", "p", f"r{next(_numbers)}")
        story = Story(Path(directory), clock, path)
        writer = story.start()
        for step in range(40):
            writer.row({"loss": float(step), "deep": {"x": step}}, step)
        ingest = ingest_into(database)
        # Each batch goes back to somewhere before what the server has, as if the last ack had been lost.
        for queue in overlapping(story.run_dir, rng):
            for batch in queue:
                with mock.patch.object(tail, "MAX_ROWS", rng.choice([1, 4, 4096])):
                    take(ingest, batch, clock)
        assert_same(database, story.replay(), path)
        digests = Charts(database).digests(Runs(database).find(path).id)
        assert {key: int(bucket.count[0]) for key, bucket in digests.items()} == {"loss": 40, "deep.x": 40}


@pytest.mark.parametrize("at_most", [1, 10])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_key_that_is_also_the_name_of_a_nested_number_keeps_its_rows(
    database: Database, tmp_path: Path, order: tuple[int, ...], at_most: int
) -> None:
    logged: list[dict[str, Any]] = [{"a": {"b": 1.5}}, {"a.b": 2.5}, {"a.b": 3.5, "a": {"b": 4.5}}]
    rng = random.Random(7)
    with _ticking() as clock:
        story = Story(tmp_path, clock)
        writer = story.start()
        for step, number in enumerate(order):
            writer.row(logged[number], step)
        send_shuffled(ingest_into(database), batches(story.run_dir, rng, rows_at_most=at_most), rng, clock)
    replay = story.replay()
    assert same(Runs(database).get(PATH).summary, replay.summary)
    for row, wanted in zip(history(database), replay.rows(), strict=True):
        if "a" in wanted:  # whose number has its place among those of the other key
            row["a.b"] = wanted["a.b"] = None
        assert row == wanted


def test_a_window_of_the_history(database: Database, tmp_path: Path) -> None:
    with _ticking() as clock:
        story = Story(tmp_path, clock)
        writer = story.start()
        for step in range(100):
            writer.row({"loss": float(step), "name": f"s{step}"}, step)
        send_shuffled(ingest_into(database), batches(story.run_dir, random.Random(1)), random.Random(2), clock)
    found = history(database, window=Window(10, 19))
    assert [row["_step"] for row in found] == list(range(10, 20))
    assert found[0]["name"] == "s10"
    assert history(database, keys=["loss"], window=Window(99, 500))[0] == {"loss": 99.0} | {
        key: item for key, item in history(database)[-1].items() if key.startswith("_")
    }


def test_a_fork_has_its_parents_rows(database: Database, tmp_path: Path) -> None:
    with _ticking() as clock:
        parent = Story(tmp_path, clock)
        writer = parent.start()
        for step in range(10):
            writer.row({"loss": float(step), "word": f"w{step}"}, step)
        child = Story(tmp_path, clock, RunPath("local", "p", "child"))
        forked = child.start(forked_from=str(PATH), fork_step=4)
        forked.row({"loss": 50.0}, 5)
        rng = random.Random(3)
        ingest = ingest_into(database)
        for story in (child, parent):
            send_shuffled(ingest, batches(story.run_dir, rng), rng, clock)
        assert_same(database, child.replay(), child.path)
        assert_same(database, parent.replay())
