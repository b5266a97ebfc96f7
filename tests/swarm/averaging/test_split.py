"""Shares and parts cover the vector, and keys spread those who just met."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.averaging import key
from strobe.swarm.averaging.protocol import MAX_BANDWIDTH, MAX_MEMBERS
from strobe.swarm.averaging.split import split_parts, split_shares

pytestmark = pytest.mark.frameworks

bandwidths = st.lists(st.floats(0, 1e6), min_size=1, max_size=20).filter(any)


@given(st.integers(0, 10**9), bandwidths)
def test_shares_cover_everything_once_and_follow_the_bandwidth(length: int, given: list[float]) -> None:
    shares = split_shares(length, given)
    assert [share.start for share in shares] == [0, *(share.stop for share in shares)][:-1]
    assert shares[-1].stop == length
    for share, bandwidth in zip(shares, given, strict=True):
        assert abs(len(share) - length * bandwidth / sum(given)) <= 1 + length * 1e-9
        assert bandwidth or not share


def test_the_greatest_bandwidths_of_the_greatest_group_have_shares() -> None:
    shares = split_shares(MAX_MEMBERS, [MAX_BANDWIDTH] * MAX_MEMBERS)
    assert [len(share) for share in shares] == [1] * MAX_MEMBERS


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 100))
def test_parts_cover_a_share_once(start: int, length: int, part_length: int) -> None:
    parts = split_parts(range(start, start + length), part_length)
    assert [place for part in parts for place in part] == list(range(start, start + length))
    assert all(len(part) == part_length for part in parts[:-1])


def test_those_who_just_met_look_under_different_keys_next() -> None:
    rng = random.Random(1)
    groups = [[key.random_bits(rng) for _ in range(4)] for _ in range(4)]
    depth = key.num_bits(16, 4)
    assert depth == 2
    for _ in range(3):
        next_keys = [[key.mixed_bits(bits, place, 4)[-depth:] for place, bits in enumerate(group)] for group in groups]
        assert all(len(set(keys)) == 4 for keys in next_keys)
        assert set(Counter(each for keys in next_keys for each in keys).values()) == {4}
        groups = [list(group) for group in zip(*groups, strict=True)]


def test_a_path_goes_up_to_the_key_that_all_share() -> None:
    assert key.path_of("p", "01" * 16, 3) == ["p.0b101", "p.0b01", "p.0b1", "p.0b"]
    assert key.path_of("p", "01" * 16, 0) == ["p.0b"]
    assert key.num_bits(1, 4) == key.num_bits(7, 4) == key.num_bits(1000, None) == 0
    assert key.num_bits(8, 4) == 1
    assert key.num_bits(1024, 4) == 8
