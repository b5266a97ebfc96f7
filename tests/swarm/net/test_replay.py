from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.net.replay import SIZE, ReplayWindow


@given(st.lists(st.one_of(st.integers(0, 3 * SIZE), st.integers(0, 2**63)), max_size=200))
def test_a_number_is_fresh_once_and_never_when_it_is_too_old(numbers: list[int]) -> None:
    window, seen, top = ReplayWindow(), set[int](), -1
    for number in numbers:
        fresh = window.is_fresh(number)
        assert fresh == (number not in seen and number > top - SIZE)
        if fresh:
            window.mark(number)
            seen.add(number)
            top = max(top, number)
        assert not window.is_fresh(number)
