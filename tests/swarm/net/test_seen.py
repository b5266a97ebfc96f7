from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.net.seen import MAX_UNANSWERED, Seen

numbers = st.lists(st.tuples(st.one_of(st.integers(0, 60), st.integers(0, 2**32)), st.integers(0, 70)), max_size=120)


@given(numbers)
def test_a_number_is_new_until_it_is_seen_or_nothing_below_will_come(steps: list[tuple[int, int]]) -> None:
    seen, known, floor = Seen(), set[int](), 0
    for number, behind in steps:
        assert seen.is_new(number) == (number not in known and number >= floor)
        if seen.is_new(number):
            seen.mark(number)
            known.add(number)
            floor = max(floor, number - behind)
            seen.close_below(floor)
        assert not seen.is_new(number)
        for near in (number - 1, number + 1, floor - 1, floor):
            assert seen.is_new(near) == (near not in known and near >= floor)


def test_a_number_is_waited_for_however_many_overtake_it() -> None:
    seen = Seen()
    for number in range(1, 100_000):
        seen.mark(number)
    assert seen.is_new(0)
    assert seen.num_gaps == 1
    seen.mark(0)
    assert seen.num_gaps == 0


def test_a_peer_that_leaves_out_every_other_number_costs_little() -> None:
    seen = Seen()
    for number in range(1, 10 * MAX_UNANSWERED, 2):
        seen.mark(number)
    for number in range(10**9, 10**9 + 10**6 * MAX_UNANSWERED, 10**6):
        seen.mark(number)
        seen.mark(number - 500)
    assert seen.num_gaps == MAX_UNANSWERED
    assert not seen.is_new(0)
