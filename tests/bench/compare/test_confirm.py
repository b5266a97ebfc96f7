"""Measuring again: who is measured, in which order, and when it ends."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from strobe.bench.compare import Comparison, History, Rule, Side, compare, confirm, pair, pair_implementations
from strobe.bench.compare.confirmation import Takes, Turn, join, looks
from strobe.bench.compare.pairing import newest
from strobe.bench.compare.selection import select
from strobe.bench.history import trace
from strobe.bench.records import Environment, Record, Repeat
from tests.bench.results import ELSEWHERE, HERE, latency, result, wrong


class Bench:
    """A `measure` that remembers what it was asked for."""

    def __init__(self, speed_of_b: float, spread: float = 0.01) -> None:
        self.asked: list[tuple[Side, str]] = []
        self._speed_of_b = speed_of_b
        self._spread = spread
        self._rng = random.Random(1)

    def __call__(self, side: Side, row: Record, n: int) -> Record:
        self.asked.append((side, row.benchmark))
        speed = self._speed_of_b if side == "B" else 1.0
        scores = [100 * speed * (1 + self._rng.gauss(0, self._spread)) for _ in range(n)]
        return msgspec.structs.replace(row, samples=tuple(scores))


def _undecided(num: int = 1) -> Comparison:
    names = [f"toy/ootb/x/{number}" for number in range(num)]
    return compare(pair([result([100, 101], name) for name in names], [result([100, 99], name) for name in names]))


def test_it_is_told_how_far_a_look_is() -> None:
    turns: list[Turn] = []
    confirm(_undecided(2), Bench(0.9), progress=turns.append)
    assert [turn.num_done for turn in turns] == list(range(40))
    assert {turn.num_repeats for turn in turns} == {40}
    assert turns[0].name == "toy/ootb/x/0 B=8"


def test_what_was_measured_again_is_one_session_that_is_not_compared_once_more() -> None:
    """An old commit that is measured today is no step of the history, and no side of the next comparison."""
    old, new = (
        result([speed], id=f"{number}", command="strobe bench run toy", environment=_at(str(speed)))
        for number, speed in enumerate((100, 90))
    )
    takes = Takes()
    takes.add("A", old, old)
    takes.add("B", new, msgspec.structs.replace(new, command="strobe bench run /gone"))
    takes.add("A", old, old)
    kept = takes.records
    assert [one.samples for one in kept] == [(100, 100), (90,)]
    assert [one.environment.git_commit for one in kept] == ["100", "90"]
    assert len({one.environment.started_at for one in kept}) == 1
    assert {one.command for one in kept} == {"strobe bench run toy"}
    assert len({one.id for one in [old, new, *kept]}) == 4
    assert newest([old, *kept]) == newest([old])
    assert [series.records for series in trace([old, new, *kept])] == [(old, new)]
    assert select("latest", [old, new, *kept]) == [new]
    many = [msgspec.structs.replace(one, id=f"{number}") for number in range(6) for one in kept]
    assert History(many).floor(old, new).source == "assumed"


def _at(commit: str) -> Environment:
    return msgspec.structs.replace(HERE, git_commit=commit, started_at=f"2026-01-01T{200 - int(commit)}")


def test_sides_take_turns_and_the_turns_alternate() -> None:
    bench = Bench(0.9)
    confirm(_undecided(2), bench)
    assert bench.asked[:8] == [
        ("A", "toy/ootb/x/0"),
        ("B", "toy/ootb/x/0"),
        ("A", "toy/ootb/x/1"),
        ("B", "toy/ootb/x/1"),
        ("B", "toy/ootb/x/0"),
        ("A", "toy/ootb/x/0"),
        ("B", "toy/ootb/x/1"),
        ("A", "toy/ootb/x/1"),
    ]


@pytest.mark.parametrize(("speed", "verdict"), [(0.95, "slower"), (1.05, "faster"), (1.0, "same")])
def test_ten_repeats_a_side_decide_on_a_quiet_machine(speed: float, verdict: str) -> None:
    bench = Bench(speed)
    (row,) = confirm(_undecided(), bench).rows
    assert row.verdict == verdict
    assert len(bench.asked) == 20
    assert row.floor.source == "interleaved"
    assert len(row.b.samples) == 10  # those of the first look do not count


def test_a_noisy_machine_gets_all_looks_and_stays_inconclusive() -> None:
    bench = Bench(0.95, spread=0.25)
    (row,) = confirm(_undecided(), bench).rows
    assert row.verdict == "inconclusive"
    assert len(bench.asked) == 80


def test_decided_rows_are_left_alone() -> None:
    decided = compare(pair([result([100, 101, 102])], [result([300, 301, 302])]))
    bench = Bench(1.0)
    assert confirm(decided, bench) == decided
    assert bench.asked == []


def test_many_rows_get_more_repeats_at_once() -> None:
    assert looks(1, Rule()) == (10, 20, 40)
    assert looks(100, Rule()) == (14, 28, 56)


def test_a_side_that_breaks_is_not_measured_on() -> None:
    calls = 0

    def measure(side: Side, row: Record, n: int) -> Record:
        nonlocal calls
        calls += 1
        return msgspec.structs.replace(row, samples=(100.0,), correctness=wrong() if side == "B" else None)

    (row,) = confirm(_undecided(), measure).rows
    assert row.verdict == "incorrect"
    assert calls == 2


def test_a_failure_is_a_verdict() -> None:
    def measure(side: Side, row: Record, n: int) -> Record:
        return msgspec.structs.replace(row, samples=(), error="killed")

    (row,) = confirm(_undecided(), measure).rows
    assert row.verdict == "failed"
    assert row.notes == ("A failed: killed",)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"version": 2}, "measured again: version 1 in A, 2 in B"),
        (
            {"seal": "bbbb"},
            "measured again: its code or data changed without a new version (seal aaaa in A, bbbb in B)",
        ),
        ({"is_changed": True}, "measured again: its sealed code had changed under its version (B)"),
        ({"threads": 1}, "measured again: 1 thread(s) in B, threads unknown in A"),
        ({"environment": ELSEWHERE}, "A and B are two machines"),
    ],
)
def test_what_cannot_be_compared_when_it_is_measured_again_stays_open(fields: dict[str, Any], reason: str) -> None:
    """The code of B moved on since: it is as fast as A, and does something else."""
    calls = 0

    def measure(side: Side, row: Record, n: int) -> Record:
        nonlocal calls
        calls += 1
        made = msgspec.structs.replace(row, samples=(100.0,), seal="aaaa")
        return msgspec.structs.replace(made, **fields) if side == "B" else made

    (row,) = confirm(_undecided(), measure).rows
    assert (row.verdict, row.estimate) == ("inconclusive", None)
    assert reason in row.reason
    assert calls == 2


def test_implementations_have_versions_of_their_own() -> None:
    rows = [result([100, 101], "toy/ootb/x/one-fp32"), result([100, 99], "toy/optimized/x/one-fp32", version=3)]
    (row,) = confirm(compare(pair_implementations(rows)), Bench(0.9)).rows
    assert row.verdict == "slower"


def test_an_interruption_keeps_what_is_decided() -> None:
    bench = Bench(1.0)

    def measure(side: Side, row: Record, n: int) -> Record:
        if len(bench.asked) >= 40:
            raise KeyboardInterrupt
        clear = row.benchmark.endswith("/0")
        made = bench(side, row, n)
        # The first row is decided by the first look, the second one is too wild for it.
        return made if clear else msgspec.structs.replace(made, samples=(made.samples[0] * (1 + len(bench.asked) % 7),))

    found = confirm(_undecided(2), measure)
    assert [row.verdict for row in found.rows] == ["same", "inconclusive"]
    assert found.is_interrupted


def test_latency_is_judged_over_all_repeats() -> None:
    one = msgspec.structs.replace(latency("undecided"), n=50, num_over=0, p99_ms=8)
    worst = msgspec.structs.replace(one, p99_ms=9)
    found = join([result([1.0], latency=one), result([1.0], latency=worst)]).latency
    assert found is not None
    assert (found.n, found.num_over, found.status, found.p99_ms) == (100, 0, "met", 9)
    assert join([result([1.0]), result([1.0])]).latency is None


def test_means_of_many_steps_do_not_meet_a_limit_by_being_many() -> None:
    """A hundred steps timed together hide nine late ones: two results that cannot tell cannot tell together."""
    looped = Repeat(wall_s=(0.01,) * 500, cpu_s=(0.01,) * 500, inner_loops=100)
    one = result([1.0], latency=latency("undecided"), repeats=(looped,))
    found = join([one, one]).latency
    assert found is not None
    assert (found.n, found.num_over, found.status) == (100_000, 0, "undecided")
    plain = msgspec.structs.replace(one, repeats=(msgspec.structs.replace(looped, inner_loops=1),))
    found = join([plain, plain]).latency
    assert found is not None
    assert (found.status, found.limit_ms, found.percentile, found.p99_ms) == ("met", 100, 95, 10.0)


def test_what_goes_on_is_reported() -> None:
    told: list[str] = []
    confirm(_undecided(3), Bench(0.9), report=told.append)
    assert told == ["look 1 of 3: 3 rows, up to 10 repeats a side, interleaved"]


def test_serving_and_throughput_are_two_rows() -> None:
    """They share benchmark and batch; only the one that was measured again is replaced."""
    sides = []
    for speed in (1.0, 3.0):
        plain = result([100 * speed, 101 * speed, 102 * speed])
        sides.append([plain, msgspec.structs.replace(result([100, 101]), metric="serving")])
    first = compare(pair(*sides), rule=Rule(num_occasions=2))
    assert [row.verdict for row in first.rows] == ["faster", "inconclusive"]
    found = confirm(first, Bench(0.9))
    assert [row.verdict for row in found.rows] == ["faster", "slower"]
    assert found.rows[0] is first.rows[0]


def test_every_look_measures_what_the_first_comparison_had() -> None:
    """Also the second: the record of a new repeat has an id of its own, by which nobody knows its commit."""
    bench = Bench(1.0, spread=0.25)
    asked: set[str] = set()

    def measure(side: Side, row: Record, n: int) -> Record:
        asked.add(row.id)
        return msgspec.structs.replace(bench(side, row, n), id=f"new {len(bench.asked)}")

    first = _undecided()
    confirm(first, measure)
    assert asked == {first.rows[0].a.id, first.rows[0].b.id}
