"""Beam search over grids that are partly there, against looking at every expert."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strobe.errors import UsageError
from strobe.swarm.client import BeamSearch
from strobe.swarm.client.beam import Found
from strobe.swarm.dht import DHT, get_dht_time
from strobe.swarm.experts import declare_experts
from strobe.swarm.experts.directory import experts_in

pytestmark = pytest.mark.frameworks


def best(uids: list[str], scores: list[np.ndarray], row: int, count: int) -> list[str]:
    """Return the best experts by looking at all."""

    def score(uid: str) -> float:
        return sum(float(each[row, int(place)]) for each, place in zip(scores, uid.split(".")[1:], strict=True))

    return sorted(uids, key=score, reverse=True)[:count]


def names(found: list[Found]) -> list[str]:
    return [each.place.uid for each in found]


@pytest.mark.parametrize("grid", [(8,), (4, 5), (3, 4, 5)])
def test_a_wide_beam_finds_what_looking_at_all_finds(grid: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    everywhere = [".".join(["ffn", *map(str, place)]) for place in np.ndindex(*grid)]
    uids = [str(uid) for uid in rng.choice(everywhere, len(everywhere) // 2, replace=False)]
    scores = [rng.normal(size=(6, size)) for size in grid]
    with DHT() as dht:
        declare_experts(dht, uids, get_dht_time() + 60)
        search = BeamSearch(dht, "ffn", grid)
        wide = search.find(scores, 30)
        for row, found in enumerate(wide):
            assert names(found)[:4] == best(uids, scores, row, 4)
            assert found == sorted(found, key=lambda each: -each.score)
            assert all(each.place.address == dht.address for each in found)
            assert [tuple(map(int, uid.split(".")[1:])) for uid in names(found)] == [each.coordinates for each in found]
        # A narrow one finds as many, all of which exist.
        for found in search.find(scores, 2):
            assert len(found) == 2
            assert set(names(found)) <= set(uids)


def test_servers_that_are_left_out_are_not_found_and_others_take_their_place() -> None:
    with DHT() as one, DHT([one.address]) as two:
        declare_experts(one, [f"ffn.{i}.0" for i in range(4)], get_dht_time() + 60)
        declare_experts(two, [f"ffn.{i}.1" for i in range(4)], get_dht_time() + 60)
        scores = [np.zeros((1, 4)), np.array([[10.0, 0.0]])]
        assert {each.place.address for each in BeamSearch(two, "ffn", (4, 2)).find(scores, 3)[0]} == {one.address}
        (without,) = BeamSearch(two, "ffn", (4, 2)).find(scores, 3, lambda place: place.address == one.address)
        assert {each.place.address for each in without} == {two.address}


@pytest.mark.parametrize("k_best", [1, 2, 4])
@pytest.mark.parametrize("grid", [(8,), (8, 1), (8, 1, 1), (1, 8, 1)])
def test_others_are_found_behind_all_that_is_left_out(grid: tuple[int, ...], k_best: int) -> None:
    uids = [".".join(["ffn", *map(str, place)]) for place in np.ndindex(*grid)]
    scores = [np.linspace(0, 1 - size, size)[None] for size in grid]  # the first coordinates are liked best
    with DHT() as dht:
        declare_experts(dht, uids, get_dht_time() + 60)
        (found,) = BeamSearch(dht, "ffn", grid).find(scores, k_best, lambda place: place.uid in uids[:4])
        assert names(found) == uids[4 : 4 + k_best]


def test_a_row_that_finds_nobody_leaves_the_others_what_they_found() -> None:
    with DHT() as dht:
        declare_experts(dht, [f"ffn.{i}.0" for i in range(8)], get_dht_time() + 60)
        order = np.linspace(0, 7, 8)
        scores = [np.stack([order, -order]), np.zeros((2, 1))]
        found = BeamSearch(dht, "ffn", (8, 1)).find(scores, 1, lambda place: place.uid != "ffn.7.0")
        assert [names(each) for each in found] == [["ffn.7.0"], ["ffn.7.0"]]
        assert [each[0].score for each in found] == [7.0, -7.0]


def test_nothing_declared_is_nothing_found_and_is_not_asked_again() -> None:
    with DHT() as dht:
        search = BeamSearch(dht, "ffn", (4, 4))
        scores = [np.zeros((2, 4)), np.zeros((2, 4))]
        assert search.find(scores, 2) == [[], []]
        declare_experts(dht, ["ffn.0.0"], get_dht_time() + 60)
        assert search.find(scores, 2) == [[], []]
        assert names(BeamSearch(dht, "ffn", (4, 4), fresh_s=0).find(scores, 2)[0]) == ["ffn.0.0"]


def test_experts_outside_the_grid_are_not_found() -> None:
    with DHT() as dht:
        declare_experts(dht, ["ffn.0.1", "ffn.0.9", "ffn.7.1", "ffn.0.0.5", "other.0.0"], get_dht_time() + 60)
        found = BeamSearch(dht, "ffn", (2, 2)).find([np.zeros((1, 2)), np.zeros((1, 2))], 9)
        assert names(found[0]) == ["ffn.0.1"]


def test_grids_and_scores_that_do_not_fit_are_told() -> None:
    with DHT() as dht:
        for prefix, grid in [("ffn", ()), ("ffn", (0,)), ("f.n", (2,))]:
            with pytest.raises(UsageError):
                BeamSearch(dht, prefix, grid)
        with pytest.raises(UsageError, match="coordinates"):
            BeamSearch(dht, "ffn", (2, 3)).find([np.zeros((1, 2)), np.zeros((1, 2))], 1)


@settings(deadline=None)
@given(
    st.dictionaries(
        st.one_of(st.integers(), st.text(max_size=3)),
        st.one_of(st.none(), st.text(), st.tuples(st.text(), st.text()), st.tuples(st.just("ffn.0.1"), st.text())),
    )
)
def test_records_of_strangers_never_break_the_search(entries: dict[object, object]) -> None:
    from strobe.swarm.dht import ValueWithExpiration

    record = ValueWithExpiration({key: ValueWithExpiration(value, 1.0) for key, value in entries.items()}, 1.0)
    assert experts_in("ffn.0.", record) == {}
    assert experts_in("ffn.0.", ValueWithExpiration(entries, 1.0)) == {}
