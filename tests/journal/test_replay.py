"""What the journals of a run add up to: attempts, merging, digests, summary. Checked against brute force."""

from __future__ import annotations

import itertools
import math
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strobe.home import Home, RunDir, RunPath
from strobe.journal import Header, Replay, Writer
from strobe.journal import event as ev

PATH = RunPath("local", "p", "r")
_clock = itertools.count(10**18)


@pytest.fixture(autouse=True)
def _ticking_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strobe.journal.writer.time_ns", lambda: next(_clock))


class Story:
    """Writes attempts of one run and reads them back."""

    def __init__(self, directory: Path, path: RunPath = PATH) -> None:
        self.home = Home(directory)
        self.path = path
        self.run_dir: RunDir = self.home.run_dir(path)
        self.attempt = 0

    def start(self, **started: Any) -> Writer:
        self.attempt += 1
        return self.join(**started)

    def join(self, kind: str = "main", writer: str | None = None, **started: Any) -> Writer:
        header = Header(
            entity=self.path.entity,
            project=self.path.project,
            run=self.path.id,
            writer=writer or f"w{next(_clock)}",
            attempt=self.attempt,
            kind=kind,
        )
        new = Writer(self.run_dir.journal, header)
        new.event(ev.Started(time_ns=next(_clock), primary=kind == "main", **started))
        return new

    def replay(self) -> Replay:
        replay = Replay(self.run_dir)
        replay.refresh()
        assert not replay.damages
        return replay


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path)


def series(replay: Replay, key: str, **options: Any) -> dict[int, Any]:
    return {row["_step"]: row[key] for row in replay.rows(**options) if key in row}


def test_rows_of_one_step_merge_and_later_values_win(story: Story) -> None:
    writer = story.start()
    writer.row({"a": 1, "b": 1}, 0)
    writer.row({"c": 3}, 0)
    writer.row({"a": 2}, 0)
    (row,) = story.replay().rows()
    assert (row["a"], row["b"], row["c"]) == (2, 1, 3)


def test_steps_come_back_in_order_whatever_order_they_were_logged_in(story: Story) -> None:
    writer = story.start()
    for step in (5, 1, 3, 3, -2):
        writer.row({"x": step}, step)
    assert [row["_step"] for row in story.replay().rows()] == [-2, 1, 3, 5]


def test_a_restart_supersedes_the_tail_of_the_keys_it_logs(story: Story) -> None:
    first = story.start()
    for step in range(10):
        first.row({"loss": step, "val": step}, step)
    second = story.start()
    for step in range(6, 8):
        second.row({"loss": 100 + step}, step)
    replay = story.replay()
    assert series(replay, "loss") == {**{n: n for n in range(6)}, 6: 106, 7: 107}
    assert series(replay, "val") == {n: n for n in range(10)}
    assert series(replay, "loss", attempt=1) == {n: n for n in range(10)}
    assert replay.metrics["loss"].max == 107
    assert replay.metrics["loss"].last == 107
    assert replay.metrics["loss"].count == 8
    assert replay.metrics["val"].count == 10


def test_a_rewind_supersedes_every_key(story: Story) -> None:
    first = story.start()
    for step in range(10):
        first.row({"loss": step, "val": step}, step)
    story.start(from_step=4)
    replay = story.replay()
    assert series(replay, "loss") == series(replay, "val") == {n: n for n in range(4)}
    assert replay.metrics["val"].max == 3


def test_an_evaluation_that_resumes_a_run_leaves_training_curves_alone(story: Story) -> None:
    train = story.start()
    for step in range(10):
        train.row({"loss": step}, step)
    story.start().row({"eval/acc": 0.9}, 3)
    replay = story.replay()
    assert len(series(replay, "loss")) == 10
    assert series(replay, "eval/acc") == {3: 0.9}


def test_a_fork_has_its_parents_rows_up_to_the_step(tmp_path: Path) -> None:
    parent = Story(tmp_path)
    writer = parent.start()
    for step in range(10):
        writer.row({"loss": step}, step)
    child = Story(tmp_path, RunPath("local", "p", "child"))
    forked = child.start(forked_from=str(PATH), fork_step=4)
    forked.row({"loss": 50}, 5)
    replay = child.replay()
    assert series(replay, "loss") == {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 50}
    assert replay.metrics["loss"].max == 50
    assert replay.metrics["loss"].min_step == 0


def test_holes_are_absent_until_filled(story: Story) -> None:
    from strobe.journal.value import HOLE_VALUE

    writer = story.start()
    sequence = writer.row({"loss": HOLE_VALUE, "lr": 0.1}, 0)
    writer.row({"lr": 0.2}, 1)
    replay = Replay(story.run_dir)
    replay.refresh()
    assert series(replay, "loss") == {}
    writer.fill(sequence, 0, next(_clock), {"loss": 0.5})
    replay.refresh()
    assert series(replay, "loss") == {0: 0.5}
    assert replay.summary == {"lr": 0.2, "loss": 0.5}


def test_summary_follows_define_metric(story: Story) -> None:
    writer = story.start()
    writer.event(ev.Metric(time_ns=1, name="acc", summary=["max", "best"], goal="maximize"))
    writer.event(ev.Metric(time_ns=1, name="val/*", summary=["min"]))
    writer.event(ev.Metric(time_ns=1, name="hidden", summary=["none"]))
    for step, acc in enumerate([0.1, 0.9, 0.5]):
        writer.row({"acc": acc, "val/loss": -acc, "hidden": 1, "plain": step}, step)
    replay = story.replay()
    assert replay.summary == {"acc": {"max": 0.9, "best": 0.9}, "val/loss": {"min": -0.9}, "plain": 2}
    assert replay.metrics["acc"].best_step == 1


def test_what_the_user_sets_in_the_summary_wins_until_it_is_logged_again(story: Story) -> None:
    writer = story.start()
    writer.row({"acc": 0.1, "gone": 1}, 0)
    writer.event(ev.Summary(time_ns=next(_clock), changes={"acc": 0.99, "note": "good"}, removed=["gone"]))
    assert story.replay().summary == {"acc": 0.99, "note": "good"}
    writer.row({"acc": 0.2}, 1)
    assert story.replay().summary == {"acc": 0.2, "note": "good"}


def test_config_changes_and_removals_add_up(story: Story) -> None:
    writer = story.start()
    writer.event(ev.Config(time_ns=next(_clock), changes={"lr": 1, "nested": {"a": 1}}))
    writer.event(ev.Config(time_ns=next(_clock), changes={"lr": 2}, removed=["nested"]))
    assert story.replay().config == {"lr": 2}


@pytest.mark.parametrize("said", ["agent", "self"])
def test_a_writer_that_ended_itself_is_not_crashed(story: Story, said: str) -> None:
    writer = story.start()
    agent = story.join(kind="agent")
    agent.event(ev.Ended(time_ns=next(_clock), state="crashed", writer=writer.header.writer))
    if said == "self":
        writer.event(ev.Ended(time_ns=next(_clock), state="finished", exit_code=0))
    assert story.replay().state == ("finished" if said == "self" else "crashed")


def test_a_dead_process_is_seen_without_an_agent(story: Story) -> None:
    from strobe.identity import boot_id, host_id, pid_namespace

    story.start(pid=2**22 - 3, pid_started=1.0, host=host_id(), boot_id=boot_id(), pid_namespace=pid_namespace())
    assert story.replay().state == "crashed"


def test_a_process_of_another_host_is_not_judged(story: Story) -> None:
    story.start(pid=2**22 - 3, pid_started=1.0, host="elsewhere", boot_id="b", pid_namespace="n")
    assert story.replay().state == "running"


numbers = st.floats(allow_nan=True, allow_infinity=True, width=32) | st.integers(-1000, 1000)
#: (attempt change, writer, step, key, value)
moves = st.lists(
    st.tuples(
        st.sampled_from([False, False, False, True]),
        st.integers(0, 1),
        st.integers(0, 12),
        st.sampled_from(["a", "b"]),
        numbers,
    ),
    max_size=25,
)


def brute_force(history: list[tuple[int, int, str, Any]]) -> dict[str, dict[int, Any]]:
    """Apply the rule literally: later attempts cut off earlier ones per key from their first logged step."""
    result: dict[str, dict[int, Any]] = {}
    firsts: dict[tuple[int, str], int] = {}
    for attempt, step, key, _ in history:
        firsts.setdefault((attempt, key), step)
    for attempt, step, key, value in history:
        cut = min(
            (first for (later, name), first in firsts.items() if name == key and later > attempt), default=math.inf
        )
        if step < cut:
            result.setdefault(key, {})[step] = value
    return result


@given(moves)
@settings(max_examples=60, deadline=None)
def test_history_and_digests_equal_brute_force(plan: list[tuple[bool, int, int, str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        story = Story(Path(directory))
        writers: list[Writer] = []
        history = []
        follower = Replay(story.run_dir)
        for restart, who, step, key, value in plan:
            if restart or not writers:
                close(writers)
                writers = [story.start(), story.join(kind="rank")]
                follower.refresh()  # what is folded bit by bit must equal what is read at once
            writers[who].row({key: value}, step)
            history.append((story.attempt, step, key, value))
        follower.refresh()
        expected = brute_force(history)
        replay = story.replay()
        for key in ("a", "b"):
            points = dict(sorted(expected.get(key, {}).items()))
            assert repr(series(replay, key)) == repr(points)
            for reader in (replay, follower):
                check_digest(reader, key, points)
        close(writers)


def close(writers: list[Writer]) -> None:
    for writer in writers:
        writer.forget()


def check_digest(replay: Replay, key: str, points: dict[int, Any]) -> None:
    digest = replay.metrics.get(key)
    if digest is None:
        assert not points
        return
    finite = [float(value) for value in points.values() if math.isfinite(value)]
    assert digest.count == len(points)
    assert digest.nan == sum(math.isnan(value) for value in points.values())
    assert digest.num_finite == len(finite)
    if finite:
        assert digest.min == min(finite)
        assert digest.max == max(finite)
        assert points[digest.min_step or 0] == digest.min
        assert digest.sum == pytest.approx(sum(finite), rel=1e-6, abs=1e-3)
        assert min(finite) <= min(digest.spark) <= max(digest.spark) <= max(finite)
