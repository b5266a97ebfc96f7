"""The side thread that supplies values later, with values whose moment the test decides."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import strobe
from strobe.home import Home
from strobe.journal.skim import Skim
from strobe.sdk import deferred as module
from strobe.sdk.deferred import Deferred, WaitingRow
from strobe.sdk.pending import FailedValue, Pending, PendingArray, find_pending, has_pending, iter_pending, resolve_all
from strobe.sdk.run import Run
from tests.sdk.scripts import column, replay_of


class Later(Pending):
    """A value that is there when the test says so."""

    def __init__(self, value: Any = None, *, nbytes: int = 0) -> None:
        self.value = value
        self.nbytes = nbytes
        self.is_there = False

    def is_ready(self) -> bool:
        return self.is_there

    def resolve(self) -> Any:
        assert self.is_there
        if isinstance(self.value, Exception):
            raise self.value
        return self.value

    def come(self) -> None:
        self.is_there = True


class LazyArray:
    """What a lazily computing library hands out, as far as `log()` looks at it."""

    def __init__(self, value: Any) -> None:
        self.later = Later(value)
        self.shape = np.shape(value)
        self.dtype = np.asarray(value).dtype

    def is_ready(self) -> bool:
        return self.later.is_ready()

    def block_until_ready(self) -> None:
        raise AssertionError("waited for a value")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.later.resolve())

    def come(self) -> None:
        self.later.come()


@pytest.fixture
def run(home: Home) -> Iterator[Run]:
    run = strobe.init(project="p", settings={"finish_timeout": 5})
    yield run
    run.finish()


@pytest.fixture
def warnings(run: Run, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(run._recorder.terminal, "warn", said.append)
    return said


def replay(run: Run) -> Any:
    return replay_of(run._recorder.run_dir)


def rows(run: Run) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key[0] != "_"} for row in replay(run).rows()]


def wait_until(condition: Callable[[], bool], timeout_s: float = 10.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.001)


# -- rows


def test_plain_values_of_the_row_are_durable_at_once_and_the_others_follow(run: Run) -> None:
    loss = LazyArray(0.5)
    run.log({"loss": loss, "lr": 0.1, "deep": {"a": 1, "b": LazyArray(2)}})
    assert rows(run) == [{"lr": 0.1}]
    loss.come()
    wait_until(lambda: "loss" in rows(run)[0])
    assert rows(run) == [{"loss": 0.5, "lr": 0.1}]
    come_all(run)


def test_finish_waits_for_the_values(run: Run) -> None:
    losses = [LazyArray(float(number)) for number in range(5)]
    for loss in losses:
        run.log({"loss": loss, "weights": LazyArray(np.arange(3))}, commit=True)
    timer = threading.Timer(0.05, come_all, [run])
    timer.start()
    run.finish()
    assert column(replay(run), "loss") == [0, 1, 2, 3, 4]
    assert [array.numpy().tolist() for array in column(replay(run), "weights")] == [[0, 1, 2]] * 5
    assert replay(run).rejected == 0


def come_all(run: Run) -> None:
    assert run._deferred is not None
    for value in iter_pending([row.pending for row, _ in run._deferred._rows.values()]):
        assert isinstance(value, PendingArray)
        value._array.come()


def test_a_later_value_of_the_same_step_wins_although_the_earlier_comes_last(run: Run) -> None:
    early, late = LazyArray(1), LazyArray(2)
    run.log({"a": early, "b": early}, step=3)
    run.log({"a": 5, "b": late}, step=3)
    late.come()
    wait_until(lambda: rows(run) == [{"a": 5, "b": 2}])
    early.come()
    run.finish()
    assert rows(run) == [{"a": 5, "b": 2}]
    assert replay(run).summary["a"] == 5
    assert replay(run).summary["b"] == 2


def test_metrics_and_counts_do_not_depend_on_the_order_of_arrival(run: Run) -> None:
    losses = [LazyArray(float(number)) for number in (3, 1, 2)]
    for loss in losses:
        run.log({"loss": loss})
    for loss in reversed(losses):
        loss.come()
        time.sleep(0.01)
    run.finish()
    found = replay(run)
    digest = found.metrics["loss"]
    assert (digest.count, digest.last, digest.min, digest.min_step, digest.max) == (3, 2, 1, 1, 3)
    assert found.num_rows == Skim(run._recorder.run_dir).num_rows == 3
    assert column(found, "loss") == [3, 1, 2]


def test_nested_values_are_supplied_whole(run: Run) -> None:
    run.log({"train": {"loss": LazyArray(2.5), "names": ["a", {"deep": LazyArray(7)}], "plain": 1}})
    assert rows(run) == [{}]
    come_all(run)
    run.finish()
    assert rows(run) == [{"train": {"loss": 2.5, "names": ["a", {"deep": 7}], "plain": 1}}]
    assert replay(run).metrics["train.loss"].last == 2.5


def test_a_value_that_is_there_already_is_written_with_the_row(run: Run) -> None:
    value = LazyArray([1.0, 2.0])
    value.come()
    run.log({"x": value})
    assert rows(run)[0]["x"].numpy().tolist() == [1, 2]
    assert run._deferred is None


def test_a_big_value_that_comes_late_goes_to_a_file(run: Run) -> None:
    big = LazyArray(np.zeros(100_000))
    run.log({"big": big})
    big.come()
    run.finish()
    (row,) = rows(run)
    assert row["big"]["_type"] == "value-file"
    assert (run._recorder.run_dir.files / row["big"]["path"]).stat().st_size == row["big"]["size"]


# -- what never comes


def test_a_value_that_never_comes_is_reported_and_the_rest_is_fine(home: Home, capsys: Any) -> None:
    run = strobe.init(project="p", settings={"finish_timeout": 0.05, "silent": False, "quiet": True})
    fine = LazyArray(1)
    run.log({"never": LazyArray(0), "fine": fine, "plain": 1})
    run.log({"fine": fine})
    fine.come()
    began = time.monotonic()
    run.finish()
    assert time.monotonic() - began < 5
    assert rows(run) == [{"fine": 1, "plain": 1}, {"fine": 1}]
    assert replay(run).rejected == 1
    assert replay(run).state == "finished"
    assert "1 logged values were not computed within finish_timeout (0.05 s)" in capsys.readouterr().err


def test_the_side_thread_is_gone_after_finish(run: Run) -> None:
    run.log({"never": LazyArray(0)})
    assert run._deferred is not None
    thread = run._deferred._thread
    assert thread is not None
    come_all(run)
    run.finish()
    assert not thread.is_alive()


def test_a_computation_that_raises_is_counted_with_one_warning(run: Run, warnings: list[str]) -> None:
    for number in range(3):
        broken, fine = LazyArray(RuntimeError("out of luck\n  a long trace")), LazyArray(number)
        run.log({"loss": broken, "other": fine, "plain": number})
        broken.come()
        fine.come()
    run.finish()
    assert rows(run) == [{"other": number, "plain": number} for number in range(3)]
    assert replay(run).rejected == 3
    (text,) = warnings
    assert "'loss' at step 0 cannot be had: out of luck;" in text
    assert "trace" not in text


def test_a_computation_that_has_failed_before_log_is_treated_alike(run: Run, warnings: list[str]) -> None:
    broken = LazyArray(RuntimeError("out of luck"))
    broken.come()
    run.log({"loss": broken, "plain": 1})
    run.finish()
    assert (rows(run), replay(run).rejected, len(warnings)) == ([{"plain": 1}], 1, 1)


def test_a_value_that_turns_out_to_be_unstorable_is_counted(run: Run, warnings: list[str]) -> None:
    odd = LazyArray(0)
    odd.later.value = np.array([object(), object()])
    run.log({"odd": odd, "plain": 1})
    odd.come()
    run.finish()
    assert (rows(run), replay(run).rejected, len(warnings)) == ([{"plain": 1}], 1, 1)


# -- the thread


class Collector:
    """Takes what `Deferred` supplies."""

    def __init__(self) -> None:
        self.values: list[tuple[int, dict[str, Any]]] = []
        self.faults: list[tuple[int, dict[str, Exception]]] = []

    def fill(self, row: WaitingRow, resolved: dict[str, Any], faults: dict[str, Exception]) -> None:
        if resolved:
            self.values.append((row.sequence, resolved))
        if faults:
            self.faults.append((row.sequence, faults))

    @property
    def sequences(self) -> list[int]:
        return [sequence for sequence, _ in self.values]


def waiting(sequence: int, **pending: Any) -> WaitingRow:
    return WaitingRow(sequence, sequence, 0, pending)


def test_values_come_in_the_order_logged_and_a_slow_one_holds_up_none() -> None:
    collector = Collector()
    deferred = Deferred(collector.fill)
    values = [Later(number) for number in range(10)]
    for number, value in enumerate(values):
        deferred.add(waiting(number, x=value, y=Later(0)))
    for value in values[1:]:
        value.come()
    wait_until(lambda: len(collector.values) == 9)
    assert collector.sequences == list(range(1, 10))
    values[0].come()
    wait_until(lambda: len(collector.values) == 10)
    assert deferred.close(0) == 10  # every y


def test_more_slow_rows_than_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WINDOW", 2)
    collector = Collector()
    deferred = Deferred(collector.fill)
    values = [Later(number) for number in range(50)]
    for number, value in enumerate(values):
        deferred.add(waiting(number, x=value))
    for value in values:
        value.come()
    assert deferred.close(10) == 0
    assert collector.sequences == list(range(50))


@pytest.mark.parametrize("limit", [{"max_rows": 4}, {"max_bytes": 4000}])
def test_a_loop_that_defers_too_much_is_held_back(limit: dict[str, int]) -> None:
    collector = Collector()
    deferred = Deferred(collector.fill, **limit)
    values = [Later(number, nbytes=1000) for number in range(12)]
    added: list[int] = []

    def train() -> None:
        for number, value in enumerate(values):
            deferred.add(waiting(number, x=value))
            added.append(number)

    thread = threading.Thread(target=train)
    thread.start()
    wait_until(lambda: len(added) == 4)
    time.sleep(0.05)
    assert len(added) == 4
    for number, value in enumerate(values):
        value.come()
        wait_until(lambda number=number: len(added) >= min(12, number + 4))  # type: ignore[misc]
    thread.join(10)
    assert deferred.close(10) == 0
    assert collector.sequences == list(range(12))
    assert deferred._nbytes == 0


def test_one_value_beyond_the_limit_is_taken_all_the_same() -> None:
    collector = Collector()
    deferred = Deferred(collector.fill, max_bytes=10)
    value = Later(1, nbytes=1000)
    deferred.add(waiting(0, x=value))
    value.come()
    assert deferred.close(10) == 0


def test_a_fault_of_ours_while_supplying_neither_ends_the_thread_nor_goes_unseen() -> None:
    collector = Collector()

    def fill(row: WaitingRow, resolved: dict[str, Any], faults: dict[str, Exception]) -> None:
        if row.sequence == 0 and resolved:
            raise KeyError("a bug")
        collector.fill(row, resolved, faults)

    deferred = Deferred(fill)
    values = [Later(1), Later(2)]
    for number, value in enumerate(values):
        deferred.add(waiting(number, x=value))
        value.come()
    assert deferred.close(10) == 0
    assert collector.sequences == [1]
    ((sequence, faults),) = collector.faults
    assert sequence == 0
    assert isinstance(faults["x"], KeyError)


def test_where_no_thread_can_be_started_the_end_supplies_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    collector = Collector()
    deferred = Deferred(collector.fill, max_rows=1)
    values = [Later(number) for number in range(3)]
    for number, value in enumerate(values):
        deferred.add(waiting(number, x=value))
        value.come()
    assert collector.values == []
    assert deferred.close(10) == 0
    assert collector.sequences == [0, 1, 2]


def test_a_row_that_is_logged_while_the_run_ends_is_counted() -> None:
    collector = Collector()
    deferred = Deferred(collector.fill)
    deferred.close(0)
    deferred.add(waiting(0, x=Later(1)))
    assert [sorted(faults) for _, faults in collector.faults] == [["x"]]


def test_a_signal_handler_may_log_a_pending_value_in_the_middle_of_another() -> None:
    collector = Collector()
    deferred = Deferred(collector.fill)
    value = Later(1)
    value.come()
    handled = 0

    def on_alarm(number: int, frame: object) -> None:
        nonlocal handled
        deferred.add(waiting(-1, x=value))
        handled += 1

    previous = signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0005)
    try:
        for number in range(2000):
            deferred.add(waiting(number, x=value))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert deferred.close(10) == 0
    assert [number for number in collector.sequences if number >= 0] == list(range(2000))
    assert collector.sequences.count(-1) == handled


def test_threads_that_log_their_first_pending_values_at_once_share_one_side_thread(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = Deferred.__init__

    def slowly(self: Deferred, *args: Any, **options: Any) -> None:
        time.sleep(0.02)
        make(self, *args, **options)

    monkeypatch.setattr(Deferred, "__init__", slowly)
    value = LazyArray(1)
    threads = [threading.Thread(target=lambda: run.log({"x": value})) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert run._deferred is not None
    assert len(run._deferred._rows) == 4
    value.come()
    run.finish()
    assert column(replay(run), "x") == [1, 1, 1, 1]


# -- recognising


def test_what_is_pending() -> None:
    value = LazyArray(1)
    assert isinstance(find_pending(value), PendingArray)
    value.come()
    assert find_pending(value) is None
    assert find_pending(1.5) is None
    assert find_pending(np.ones(3)) is None


def test_a_deleted_array_is_never_asked_whether_it_is_ready() -> None:
    class Deleted(LazyArray):
        def is_deleted(self) -> bool:
            return True

        def is_ready(self) -> bool:
            raise AssertionError("this crashes the interpreter in jaxlib")

    pending = find_pending(Deleted(1))
    assert pending is not None
    assert pending.is_ready()
    with pytest.raises(RuntimeError, match="log a copy"):
        pending.resolve()


def test_pending_values_inside_containers() -> None:
    later = Later(3)
    later.come()
    plain = {"a": [1, {"b": later}]}
    assert has_pending(plain)
    assert not has_pending({"a": [1, {"b": 2}]})
    assert resolve_all(plain) == {"a": [1, {"b": 3}]}
    with pytest.raises(ValueError, match="gone"):
        resolve_all([FailedValue(ValueError("gone"))])
