"""Means over those who deliver, whatever the order in which they do, or are dropped."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.averaging.protocol import MAX_WEIGHT
from strobe.swarm.averaging.reduction import Reduction

pytestmark = pytest.mark.frameworks

LENGTH = 5


@given(st.data())
def test_a_part_is_the_mean_of_those_who_delivered_it(data: st.DataObject) -> None:
    num_members = data.draw(st.integers(1, 6))
    num_parts = data.draw(st.integers(1, 4))
    weights = data.draw(st.lists(st.floats(0.01, 1e6), min_size=num_members, max_size=num_members))
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    values = rng.normal(size=(num_members, num_parts, LENGTH)).astype(np.float32)
    lasts = [data.draw(st.integers(0, num_parts)) for _ in range(num_members)]  # how many parts each delivers
    events = [(member, part) for member in range(num_members) for part in range(lasts[member])]
    events = data.draw(st.permutations(events))

    reduction = Reduction(num_parts, dict(enumerate(weights)))
    closed = reduction.settle(range(num_parts))
    for member, part in events:
        closed += reduction.add(member, part, torch.from_numpy(values[member, part].copy()))
        assert reduction.add(member, part, torch.zeros(LENGTH)) == []  # only the first counts
    for member in data.draw(st.permutations([m for m in range(num_members) if lasts[m] < num_parts])):
        assert not reduction.is_done
        closed += reduction.drop(member)
        assert reduction.drop(member) == []
    assert reduction.is_done
    assert reduction.lacking == set()
    assert sorted(closed) == list(range(num_parts))
    for part in closed:
        mean, missing = reduction.mean(part)
        there = [member for member in range(num_members) if lasts[member] > part]
        assert missing == tuple(sorted(set(range(num_members)) - set(there)))
        if not there:
            assert mean is None
            continue
        assert mean is not None
        expected = np.average(values[there, part].astype(np.float64), axis=0, weights=np.array(weights)[there])
        np.testing.assert_allclose(mean.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_the_slowest_of_the_oldest_part_are_the_ones_that_lack() -> None:
    reduction = Reduction(2, {0: 1.0, 1: 1.0, 2: 1.0})
    reduction.add(0, 0, torch.ones(1))
    reduction.add(0, 1, torch.ones(1))
    reduction.add(1, 0, torch.ones(1))
    assert reduction.lacking == {2}
    assert reduction.drop(2) == [0]
    assert reduction.lacking == {1}
    assert reduction.oldest == 1


def test_what_is_given_up_names_who_lacks_and_takes_nothing_more() -> None:
    reduction = Reduction(3, {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0})
    for member, num_parts in ((0, 3), (1, 3), (2, 2), (3, 1)):
        for part in range(num_parts):
            reduction.add(member, part, torch.ones(1))
    assert reduction.drop(3) == [1]
    assert reduction.give_up() == {2, 3}
    assert reduction.is_done
    assert reduction.add(2, 2, torch.ones(1)) == []
    assert reduction.drop(2) == []
    assert reduction.mean(0).missing == ()
    assert reduction.give_up() == set()


def test_without_anybody_who_has_values_all_parts_are_closed_at_once() -> None:
    reduction = Reduction(2, {})
    assert reduction.settle(range(2)) == [0, 1]
    assert reduction.mean(0) == (None, ())


def test_the_heaviest_that_can_be_takes_nothing_from_others_if_it_delivers_nothing() -> None:
    reduction = Reduction(1, {0: MAX_WEIGHT, 1: 1.0, 2: 3.0})
    reduction.add(1, 0, torch.full((2,), 1e-10))
    reduction.add(2, 0, torch.full((2,), 2e-10))
    assert reduction.drop(0) == [0]
    mean, missing = reduction.mean(0)
    assert missing == (0,)
    assert mean is not None
    torch.testing.assert_close(mean, torch.full((2,), 1.75e-10), atol=0, rtol=1e-6)


def test_weights_may_be_counts_of_samples() -> None:
    reduction = Reduction(1, {0: 1e30, 1: 3e30})
    reduction.add(0, 0, torch.full((2,), 1e10))
    reduction.add(1, 0, torch.full((2,), 2e10))
    mean, _ = reduction.mean(0)
    assert mean is not None
    torch.testing.assert_close(mean, torch.full((2,), 1.75e10))
