"""Alerts: raised once per cause, whoever looks how often, and handed to one deliverer at a time."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strobe.errors import NotInStore, UsageError
from strobe.journal.entry import Noted
from strobe.journal.event import Alert
from strobe.store.alerts import Alerts, Condition, Nonfinite, Stall, StateChange, Threshold, raising
from strobe.store.database import Database
from strobe.store.series import Points
from tests.store.rows import make_project, make_run

SECOND = 10**9
MINUTE = 60 * SECOND
EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Scene:
    """A project with a run, and a clock that is set by hand."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.now_ns = 10**18
        self.alerts = Alerts(database, lambda: self.now_ns)
        self.project = make_project(database)
        self.run = make_run(database, self.project, name="r", now_ns=self.now_ns)

    def say(self, *titles: str, level: str = "INFO", first: int = 0, writer: str = "w") -> None:
        notes = [
            Noted(first + number, Alert(time_ns=7, title=title, text="text", level=level))
            for number, title in enumerate(titles)
        ]
        self.database.write(lambda cursor: self.alerts.add(cursor, self.run, 1, writer, notes))

    def log(self, values: dict[str, list[float]], attempt: int = 1, writer: str = "w") -> None:
        points = {
            key: [Points.of(range(len(found)), found, sequence=list(range(len(found))))]
            for key, found in values.items()
        }
        self.database.write(lambda cursor: self.alerts.inspect(cursor, self.project, self.run, attempt, writer, points))

    def rule(self, condition: Condition) -> int:
        return self.alerts.rules.add(self.project, "watch", condition).id

    def set_run(self, **columns: object) -> None:
        sets = ", ".join(f"{name} = ?" for name in columns)
        self.database.write(
            lambda cursor: cursor.run(
                f"UPDATE run SET {sets}, changed_ns = ? WHERE id = ?", *columns.values(), self.now_ns, self.run
            )
        )

    @property
    def titles(self) -> list[str]:
        return [item.title for item in self.alerts.of_project(self.project).items]


@pytest.fixture
def scene(database: Database) -> Scene:
    return Scene(database)


# --- what runs say


def test_what_a_run_says_is_an_alert_and_is_delivered_to_each_sink(scene: Scene) -> None:
    hook = scene.alerts.sinks.add(scene.project, "hook", "webhook", ["https://example.org/h"])
    mail = scene.alerts.sinks.add(scene.project, "mail", "email", ["a@example.org"], min_level="ERROR")
    scene.alerts.sinks.add(scene.project, "off", "email", ["b@example.org"], is_enabled=False)
    scene.say("hello")
    scene.say("broken\0", level="error", first=1)
    latest, first = scene.alerts.of_project(scene.project).items
    assert (first.title, first.level, first.kind, first.run) == ("hello", "INFO", "run", "r")
    assert (latest.title, latest.level) == ("broken\ufffd", "ERROR")
    assert [found.sink for found in first.deliveries] == [hook.id]
    assert [found.sink for found in latest.deliveries] == [hook.id, mail.id]
    assert scene.alerts.of_run(scene.run).items == [latest, first]


def test_the_same_event_again_is_the_same_alert(scene: Scene) -> None:
    scene.say("a", "b")
    scene.say("a", "b")
    scene.say("a", writer="other")
    assert scene.titles == ["a", "b", "a"]


def test_lists_go_on_where_they_stopped(scene: Scene) -> None:
    scene.say(*map(str, range(10)))
    found: list[str] = []
    before: int | None = None
    while True:
        page = scene.alerts.of_project(scene.project, before=before, limit=4)
        found += [item.title for item in page.items]
        if page.before is None:
            break
        before = page.before
    assert found == [str(number) for number in reversed(range(10))]


def test_a_loop_does_not_fill_an_inbox(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raising, "MOST_PER_HOUR", 3)
    scene.alerts.sinks.add(scene.project, "mail", "email", ["a@example.org"])
    scene.say(*map(str, range(6)))
    states = [item.deliveries[0].state for item in scene.alerts.of_project(scene.project).items]
    assert states == ["held"] * 3 + ["pending"] * 3
    scene.now_ns += 3601 * SECOND
    scene.say("later", first=6)
    assert scene.alerts.of_project(scene.project).items[0].deliveries[0].state == "pending"


# --- rules about numbers


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_speaks_once_per_attempt_and_key(scene: Scene, bad: float) -> None:
    scene.rule(Nonfinite(key="train/*"))
    scene.log({"train/loss": [1.0, 2.0], "other": [bad]})
    assert scene.titles == []
    scene.log({"train/loss": [1.0, bad, bad], "train/norm": [bad]})
    scene.log({"train/loss": [bad]})
    (found,) = scene.alerts.of_project(scene.project).items
    assert "train/loss, train/norm" in found.title
    assert "train/loss was" in found.text
    assert "at step 1" in found.text
    scene.log({"train/new": [bad]})
    scene.log({"train/loss": [bad]}, attempt=2)
    assert len(scene.titles) == 3


@EXAMPLES
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=30),
    st.lists(st.integers(0, 30)),
    st.integers(1, 4),
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
)
def test_a_threshold_speaks_when_enough_points_in_a_row_are_beyond_it(
    database: Database, values: list[int], cuts: list[int], points: int, op: str
) -> None:
    scene = Scene(database)
    scene.rule(Threshold(key="x", op=op, value=1.5 if op in "<>" else 1, points=points))  # type: ignore[arg-type]  # one of its operators
    edges = sorted({min(cut, len(values)) for cut in cuts} | {0, len(values)})
    for first, last in pairwise(edges):
        scene.log({"x": [float(value) for value in values[first:last]], "y": [0.0]})
    limit = 1.5 if op in "<>" else 1
    holds = [bool(eval(f"{value} {op} {limit}")) for value in values]
    expected = any(all(holds[start : start + points]) for start in range(len(holds) - points + 1))
    assert len(scene.titles) == expected


def test_writers_are_counted_apart(scene: Scene) -> None:
    scene.rule(Threshold(key="x", op=">", value=1, points=2))
    scene.log({"x": [2.0]}, writer="a")
    scene.log({"x": [2.0]}, writer="b")
    assert scene.titles == []
    scene.log({"x": [2.0]}, writer="a")
    (title,) = scene.titles
    assert title == "watch: x is 2 at step 0 (> 1)"


def test_a_changed_or_removed_rule_starts_over_or_is_silent(scene: Scene) -> None:
    rule = scene.rule(Threshold(key="x", op=">", value=1))
    scene.log({"x": [2.0]})
    scene.alerts.rules.change(scene.project, rule, condition=Threshold(key="y", op=">", value=1))
    scene.alerts = Alerts(scene.database, lambda: scene.now_ns)
    scene.log({"x": [2.0], "y": [2.0]})
    assert len(scene.titles) == 2
    scene.alerts.rules.remove(scene.project, rule)
    scene.alerts = Alerts(scene.database, lambda: scene.now_ns)
    scene.log({"y": [2.0]}, attempt=2)
    assert len(scene.titles) == 2


# --- rules about the life of runs


def test_an_end_speaks_once_whoever_looks(scene: Scene) -> None:
    scene.rule(StateChange(states=["failed", "crashed"]))
    scene.set_run(state="finished", ended_ns=scene.now_ns)
    assert scene.alerts.watch() == 0
    scene.set_run(state="failed", ended_ns=scene.now_ns + 5)
    other = Alerts(scene.database, lambda: scene.now_ns)
    assert scene.alerts.watch() + other.watch() + scene.alerts.watch() == 1
    assert scene.titles == ["watch: run r failed"]


def test_a_run_that_ended_before_the_rule_was_made_is_not_news(scene: Scene) -> None:
    scene.set_run(state="failed", ended_ns=scene.now_ns)
    scene.now_ns += 10 * MINUTE
    scene.rule(StateChange(states=["failed"]))
    scene.set_run(stop_by="somebody edits it later")
    assert scene.alerts.watch() == 0


def test_a_stall_speaks_once_each_time(scene: Scene) -> None:
    scene.rule(Stall(minutes=5))
    scene.set_run(num_rows=10)
    spoken = []
    for minute in range(30):
        scene.now_ns += MINUTE
        scene.set_run(heartbeat_ns=scene.now_ns, num_rows=10 if minute < 12 else 11)
        if scene.alerts.watch():
            spoken.append(minute)
    assert len(spoken) == 2
    assert spoken[0] in (4, 5, 6)
    assert 12 + 4 <= spoken[1] <= 12 + 6


def test_a_run_without_a_sign_of_life_does_not_stall(scene: Scene) -> None:
    scene.rule(Stall(minutes=5))
    scene.alerts.watch()
    scene.now_ns += 10 * MINUTE
    assert scene.alerts.watch() == 0


def test_servers_take_turns(scene: Scene) -> None:
    scene.rule(StateChange(states=["failed"]))
    other = Alerts(scene.database, lambda: scene.now_ns)
    assert scene.alerts.watch(turn_ns=5 * SECOND) == 0
    scene.set_run(state="failed", ended_ns=scene.now_ns)
    assert other.watch(turn_ns=5 * SECOND) == 0  # not its turn
    scene.now_ns += 5 * SECOND
    assert other.watch(turn_ns=5 * SECOND) == 1


# --- rules and sinks


def test_a_rule_may_choose_its_sinks(scene: Scene) -> None:
    one = scene.alerts.sinks.add(scene.project, "one", "email", ["a@example.org"])
    scene.alerts.sinks.add(scene.project, "two", "email", ["b@example.org"])
    scene.alerts.rules.add(scene.project, "n", Nonfinite(), sinks=[one.id])
    scene.log({"x": [math.nan]})
    assert [found.sink for found in scene.alerts.of_project(scene.project).items[0].deliveries] == [one.id]


def test_rules_and_sinks_belong_to_their_project(scene: Scene) -> None:
    other = make_project(scene.database)
    rule, sink = scene.rule(Nonfinite()), scene.alerts.sinks.add(scene.project, "s", "email", ["a@example.org"])
    with pytest.raises(NotInStore):
        scene.alerts.rules.get(other, rule)
    with pytest.raises(NotInStore):
        scene.alerts.sinks.remove(other, sink.id)
    with pytest.raises(UsageError, match="no alert sink"):
        scene.alerts.rules.add(other, "n", Nonfinite(), sinks=[sink.id])
    assert scene.alerts.rules.of_project(scene.project)[0].condition == Nonfinite()
    changed = scene.alerts.sinks.change(scene.project, sink.id, addresses=["b@example.org"], is_enabled=False)
    assert (changed.addresses, changed.is_enabled, changed.name) == (["b@example.org"], False, "s")


# --- the outbox


def test_a_delivery_is_claimed_once_and_again_when_its_lease_runs_out(scene: Scene) -> None:
    scene.alerts.sinks.add(scene.project, "s", "webhook", ["https://example.org"])
    scene.say("a", "b")
    other = Alerts(scene.database, lambda: scene.now_ns)
    first = scene.alerts.outbox.claim(lease_ns=MINUTE)
    assert [(found.title, found.tries, found.run) for found in first] == [("a", 1, "r"), ("b", 1, "r")]
    assert other.outbox.claim(lease_ns=MINUTE) == []
    scene.alerts.outbox.note_sent(first[0])
    scene.now_ns += MINUTE
    (again,) = other.outbox.claim(lease_ns=MINUTE)
    assert (again.id, again.tries) == (first[1].id, 2)
    scene.alerts.outbox.note_sent(first[1])  # too late: it is the other's now
    assert other.outbox.next_due_ns() == scene.now_ns + MINUTE
    other.outbox.note_sent(again)
    assert other.outbox.next_due_ns() is None


def test_a_failed_delivery_is_tried_again_until_it_is_given_up(scene: Scene) -> None:
    scene.alerts.sinks.add(scene.project, "s", "webhook", ["https://example.org"])
    scene.say("a")
    (delivery,) = scene.alerts.outbox.claim(lease_ns=MINUTE)
    scene.alerts.outbox.note_failed(delivery, "no route", retry_ns=scene.now_ns + SECOND)
    assert scene.alerts.outbox.claim(lease_ns=MINUTE) == []
    scene.now_ns += SECOND
    (delivery,) = scene.alerts.outbox.claim(lease_ns=MINUTE)
    scene.alerts.outbox.note_failed(delivery, "gone", retry_ns=None)
    scene.now_ns += 100 * MINUTE
    assert scene.alerts.outbox.claim(lease_ns=MINUTE) == []
    (state,) = scene.alerts.of_project(scene.project).items[0].deliveries
    assert (state.state, state.tries, state.error) == ("failed", 2, "gone")
