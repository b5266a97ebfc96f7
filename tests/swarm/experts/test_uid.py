"""Names of experts and patterns of names."""

from __future__ import annotations

import random

import pytest

from strobe.errors import UsageError
from strobe.swarm.experts.uid import FLAT, Pattern, coordinates_of, is_uid, parse_uid, parts_of_grid, prefix_of

pytestmark = pytest.mark.frameworks


@pytest.mark.parametrize("uid", ["ffn.0", "ffn.3.14", "my-expert.0.0.255", "a.999999999"])
def test_names(uid: str) -> None:
    assert is_uid(uid)
    assert ".".join([prefix_of(parse_uid(uid)), *map(str, coordinates_of(parse_uid(uid)))]) == uid


@pytest.mark.parametrize(
    "text",
    [
        *["", "ffn", "ffn.", ".1", "ffn.01", "ffn.-1", "ffn.1.", "ffn.x", "f fn.1", "ffn.1\n", "a" * 300 + ".1", 7],
        *["/tmp/ffn.1", "a/ffn.1", "a\\ffn.1", "ffn\0.1"],  # as files they would be elsewhere
    ],
)
def test_what_is_no_name(text: object) -> None:
    assert not is_uid(text)
    with pytest.raises(UsageError):
        parse_uid(str(text) if text != 7 else "7")


def test_parts_of_a_grid() -> None:
    assert parts_of_grid(parse_uid("ffn.5")) == [("ffn.5.", FLAT)]
    assert parts_of_grid(parse_uid("ffn.5.6")) == [("ffn.5.", 6)]
    assert parts_of_grid(parse_uid("ffn.5.6.7")) == [("ffn.5.", 6), ("ffn.5.6.", 7)]


def test_pattern_names_all_of_its_grid() -> None:
    pattern = Pattern("ffn.[1:3].7.[0:2]")
    assert len(pattern) == 4
    assert [pattern[number] for number in range(4)] == ["ffn.1.7.0", "ffn.1.7.1", "ffn.2.7.0", "ffn.2.7.1"]
    assert "ffn.2.7.1" in pattern
    assert not any(uid in pattern for uid in ["ffn.3.7.0", "ffn.1.8.0", "ffn.1.7", "other.1.7.0", "ffn"])
    with pytest.raises(IndexError):
        pattern[4]


@pytest.mark.parametrize(
    "text", ["ffn", "ffn.[0:2", "ffn.[2:2]", "ffn.[3:1]", "ffn.[a:b]", "[0:2].1", "ffn.[0:2]x", "/x.[0:2]"]
)
def test_what_is_no_pattern(text: str) -> None:
    with pytest.raises(UsageError):
        Pattern(text)


def test_sampling_leaves_out_what_is_taken_even_of_huge_grids() -> None:
    rng = random.Random(0)
    huge = Pattern("ffn.[0:100000].[0:100000]")
    names = huge.sample(50, set(), rng)
    assert len(set(names)) == 50
    assert all(name in huge for name in names)
    small = Pattern("ffn.[0:3]")
    assert sorted(small.sample(5, {"ffn.1"}, rng)) == ["ffn.0", "ffn.2"]
    assert small.sample(1, {"ffn.0", "ffn.1", "ffn.2"}, rng) == []
