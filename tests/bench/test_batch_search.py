"""The batch search against machines whose throughput and latency are known."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.bench.batch_search import Choice, Measure, qualifies, search, winner
from strobe.bench.records import Latency, LatencyStatus, Record
from tests.bench.results import result, wrong


def _latency(status: LatencyStatus, num_over: int = 0) -> Latency:
    return Latency(
        limit_ms=10, percentile=90, status=status, n=20, num_over=num_over, p50_ms=1, p90_ms=1, p95_ms=1, p99_ms=1
    )


def _record(batch_size: int, score: float, status: LatencyStatus = "met", *, num_over: int = 0) -> Record:
    return result([score], batch_size=batch_size, latency=_latency(status, num_over))


def _search(max_in_time: int, *, max_batch: int, first: int = 1) -> tuple[Choice, list[int]]:
    tried: list[int] = []

    def measure(size: int) -> Record:
        tried.append(size)
        return _record(size, score=size / (1 + size / 50), status="met" if size <= max_in_time else "missed")

    return search(measure, first=first, max_batch=max_batch), tried


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 300))
def test_the_best_is_within_a_tenth_of_the_limit(max_in_time: int, max_batch: int, first: int) -> None:
    choice, tried = _search(max_in_time, max_batch=max_batch, first=min(first, max_batch))
    best = choice.best.batch_size
    assert best is not None
    wanted = min(max_in_time, max_batch)
    assert qualifies(choice.best)
    assert best <= wanted
    assert wanted - best <= max(1, 0.1 * best)
    assert len(tried) == len(set(tried)) <= 15


def test_a_first_batch_that_is_late_is_halved_until_one_is_in_time() -> None:
    choice, tried = _search(11, first=64, max_batch=256)
    assert tried[:4] == [64, 32, 16, 8]
    assert qualifies(choice.best)
    assert choice.best.batch_size == 11


def test_when_even_a_single_example_is_late_it_is_what_is_reported() -> None:
    choice, tried = _search(0, first=4, max_batch=64)
    assert tried == [4, 2, 1]
    assert not qualifies(choice.best)
    assert choice.best.batch_size == 1


@pytest.mark.parametrize("flaw", ["error", "wrong"])
def test_what_fails_or_is_wrong_is_not_tried_smaller(flaw: str) -> None:
    tried: list[int] = []

    def measure(size: int) -> Record:
        tried.append(size)
        found = _record(size, score=1.0, status="missed")
        if flaw == "error":
            return msgspec.structs.replace(found, samples=(), error="failed")
        return msgspec.structs.replace(found, correctness=wrong())

    choice = search(measure, first=4, max_batch=64)
    assert tried == [4]
    assert not qualifies(choice.best)
    assert choice.best.batch_size == 4


def test_a_throughput_that_falls_ends_the_search() -> None:
    tried: list[int] = []

    def measure(size: int) -> Record:
        tried.append(size)
        return _record(size, score=100.0 if size <= 8 else 10.0)

    choice = search(measure, first=1, max_batch=4096)
    assert tried == [1, 2, 4, 8, 16]
    assert choice.best.batch_size in {1, 2, 4, 8}
    assert [one.batch_size for one in choice.trials] == tried


def _choice(scores: dict[int, float]) -> Choice:
    return search(lambda size: _record(size, scores[size]), first=1, max_batch=max(scores))


def _finals(choice: Choice, measure: Measure) -> list[Record]:
    """Measure with all repeats for as long as the choice names another batch."""
    finals: list[Record] = []
    while (size := choice.next_size(finals)) is not None:
        finals.append(measure(size))
    return finals


def _sizes(records: Iterable[Record]) -> list[int | None]:
    return [one.batch_size for one in records]


def test_a_winner_that_holds_is_measured_once() -> None:
    finals = _finals(_choice({1: 1.0, 2: 2.0, 4: 3.0}), lambda size: _record(size, 1.0, "undecided"))
    assert _sizes(finals) == [4]
    assert winner(finals) is finals[0]


def test_a_winner_that_is_late_with_all_repeats_gives_way_to_the_next_best() -> None:
    """A trial has too few steps to tell, and was chosen for being lucky."""
    choice = _choice({1: 1.0, 2: 2.0, 4: 3.5, 8: 4.0, 16: 3.9})
    finals = _finals(choice, lambda size: _record(size, 1.0, "missed" if size > 2 else "met"))
    # Not 16, which was the next best: what is larger than a late one is late.
    assert _sizes(finals) == [8, 4, 2]
    assert winner(finals) is finals[-1]


def test_a_winner_that_is_wrong_with_all_repeats_gives_way_to_any_other() -> None:
    def measure(size: int) -> Record:
        found = _record(size, 1.0)
        return msgspec.structs.replace(found, correctness=wrong()) if size == 8 else found

    finals = _finals(_choice({1: 1.0, 2: 2.0, 4: 3.5, 8: 4.0, 16: 3.9}), measure)
    assert _sizes(finals) == [8, 16]
    assert winner(finals) is finals[-1]


@given(st.integers(1, 300), st.integers(1, 300), st.booleans())
def test_when_no_winner_holds_the_smallest_is_what_is_reported(first: int, max_batch: int, is_late: bool) -> None:
    choice, _ = _search(300, max_batch=max_batch, first=min(first, max_batch))

    def measure(size: int) -> Record:
        found = _record(size, 1.0, "missed" if is_late else "met")
        return found if is_late else msgspec.structs.replace(found, correctness=wrong())

    finals = _finals(choice, measure)
    assert len(finals) == len(set(_sizes(finals)))
    assert winner(finals).batch_size == choice.trials[0].batch_size


def test_where_no_trial_qualified_the_smallest_is_measured_and_no_other() -> None:
    choice, _ = _search(0, first=4, max_batch=64)
    assert _sizes(_finals(choice, lambda size: _record(size, 1.0, "missed"))) == [1]


def test_what_qualifies() -> None:
    assert qualifies(_record(1, 1.0))
    assert not qualifies(_record(1, 1.0, "missed"))
    assert qualifies(_record(1, 1.0, "undecided", num_over=1))
    assert not qualifies(_record(1, 1.0, "undecided", num_over=5))
    assert qualifies(result([1.0]))
    assert not qualifies(result([1.0], correctness=wrong()))
    assert not qualifies(result([], error="failed"))
