"""Averagers on real peers: what comes out, who has which part in it, and what is refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

import strobe
from strobe.errors import UsageError
from strobe.swarm.averaging import DecentralizedAverager
from strobe.swarm.dht import DHT, DhtStopped
from strobe.swarm.telemetry import Telemetry
from strobe.swarm.tensors import NotFinite

from .peers import PATIENCE_S, averagers, step_together, swarm

pytestmark = [pytest.mark.slow, pytest.mark.frameworks]


def random_tensors(count: int) -> list[list[torch.Tensor]]:
    return [[torch.randn(50, 21), torch.randn(()), torch.randn(7)] for _ in range(count)]


def weighted_mean(tensors: Sequence[Sequence[torch.Tensor]], weights: Sequence[float]) -> list[torch.Tensor]:
    share = torch.tensor(weights) / sum(weights)
    return [torch.einsum("p,p...->...", share, torch.stack(column)) for column in zip(*tensors, strict=True)]


@pytest.mark.parametrize(("compression", "error"), [("none", 1e-5), ("fp16", 4e-3)])
def test_eight_peers_get_the_same_weighted_mean(compression: str, error: float) -> None:
    """Two of them cannot be called."""
    tensors = random_tensors(8)
    weights = [1.0, 2.0, 0.5, 3.0, 1.0, 1.0, 4.0, 0.25]
    expected = weighted_mean(tensors, weights)
    settings = {"target_group_size": 8, "compression": compression, "part_bytes": 512}
    with swarm(8, clients=2) as peers, averagers(peers, tensors, **settings) as group:
        rounds = step_together(group, weights)
        figures = group[0].figures()
    for round_ in rounds:
        assert round_.members == rounds[0].members
        assert round_.group_size == 8
        assert round_.failed == frozenset()
        assert round_.gathered == {dht.peer_id: place for place, dht in enumerate(peers)}
    for mine in tensors:
        for got, first, mean in zip(mine, tensors[0], expected, strict=True):
            assert torch.equal(got, first)  # bit by bit
            torch.testing.assert_close(got, mean, atol=error, rtol=0)
    assert figures["rounds"] == 1
    assert figures["group_size"] == 8
    assert figures["averaged_bytes"] == 4 * (50 * 21 + 1 + 7)


def test_values_count_as_they_were_and_what_changed_meanwhile_stays() -> None:
    model = torch.nn.Linear(3, 2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    others = [torch.full((2, 3), 4.0), torch.full((2,), 4.0)]
    with swarm(2) as peers, averagers(peers, [list(model.parameters()), others], target_group_size=2) as group:
        reply = group[0].step(wait=False)
        with group[0].tensors() as tensors, torch.no_grad():
            tensors[0][0, 0] += 10.0
        assert group[1].step(timeout_s=PATIENCE_S) is not None
        assert reply.result(PATIENCE_S) is not None
    assert model.weight.tolist() == [[12.0, 2.0, 2.0], [2.0, 2.0, 2.0]]
    assert others[0].unique().tolist() == [2.0]


def test_a_step_can_be_awaited_and_cancelled() -> None:
    async def main(first: DecentralizedAverager, second: DecentralizedAverager) -> None:
        alone = first.step(wait=False)
        with pytest.raises(UsageError, match="under way"):
            first.step(wait=False)
        assert alone.cancel()
        rounds = await asyncio.gather(first.step(wait=False), second.step(wait=False))
        assert [round_.group_size for round_ in rounds if round_ is not None] == [2, 2]

    tensors = [[torch.zeros(3)], [torch.ones(3)]]
    with swarm(2) as peers, averagers(peers, tensors, target_group_size=2) as group:
        asyncio.run(asyncio.wait_for(main(*group), PATIENCE_S))
    assert tensors[0][0].tolist() == [0.5] * 3


def test_alone_there_is_no_round_and_no_error() -> None:
    with swarm(1) as [peer], averagers([peer], [[torch.ones(3)]], matchmaking_s=0.2) as [averager]:
        assert averager.step() is None
        assert averager.step(timeout_s=0.1) is None
        assert averager.figures()["groups_missed"] == 2


def test_two_averagers_of_a_peer_do_not_mix() -> None:
    with swarm(2) as peers:
        ones, twos = [[torch.zeros(3)], [torch.ones(3)]], [[torch.zeros(2, 2)], [torch.ones(2, 2) * 4]]
        with (
            averagers(peers, ones, prefix="one", target_group_size=2) as first,
            averagers(peers, twos, prefix="two", target_group_size=2) as second,
        ):
            step_together([*first, *second])
            with pytest.raises(UsageError, match="has an averager with the prefix 'one'"):
                DecentralizedAverager([torch.zeros(3)], peers[0], prefix="one")
        assert ones[0][0].tolist() == [0.5] * 3
        assert twos[0][0].tolist() == [[2.0, 2.0]] * 2
        with averagers(peers, ones, prefix="one", target_group_size=2) as again:  # the prefix is free again
            step_together(again)


def test_the_wanted_size_can_change() -> None:
    with swarm(2) as peers, averagers(peers, [[torch.zeros(1)], [torch.ones(1)]]) as group:
        for averager in group:
            assert averager.target_group_size is None
            averager.target_group_size = 2
        assert {round_.group_size for round_ in step_together(group)} == {2}
        with pytest.raises(UsageError, match="target_group_size"):
            group[0].target_group_size = 1


def test_own_mistakes_raise_at_once() -> None:
    with swarm(1) as [peer]:
        with averagers([peer], [[torch.tensor([1.0, float("nan")])]], matchmaking_s=0.1) as [averager]:
            with pytest.raises(NotFinite):
                averager.step()
            assert averager.step(weight=0.0) is None  # has no part in anything
            wrong: dict[str, Any]
            for wrong in (
                {"weight": -1.0},
                {"weight": float("nan")},
                {"weight": 1e60},
                {"timeout_s": 0.0},
                {"gather": b"x" * 10**6},
            ):
                with pytest.raises(UsageError):
                    averager.step(**wrong)
            with averager.tensors(), pytest.raises(UsageError, match="leave"):
                averager.step()
        with pytest.raises(UsageError, match="shut down"):
            averager.step()
        for wrong in (
            {"tensors": []},
            {"tensors": [torch.ones(2, dtype=torch.int64)]},
            {"compression": "zip"},
            {"min_group_size": 1},
            {"matchmaking_s": 0.0},
            {"bandwidth": -1.0},
            {"bandwidth": 1e300},
            {"part_bytes": 1},
            {"prefix": ""},
            {"group_bits": "012"},
        ):
            chosen: dict[str, Any] = {"tensors": [torch.ones(2)], "prefix": "p", **wrong}
            with pytest.raises(UsageError):
                DecentralizedAverager(chosen.pop("tensors"), peer, **chosen)


def test_a_dht_in_another_process_is_refused() -> None:
    with DHT(process=True) as dht, pytest.raises(UsageError, match="process"):
        DecentralizedAverager([torch.ones(2)], dht, prefix="p")


def test_closing_hangs_nobody() -> None:
    tensors = [[torch.zeros(3)], [torch.ones(3)]]
    with swarm(2) as peers, averagers(peers, tensors, matchmaking_s=60.0) as group:
        replies = [averager.step(wait=False) for averager in group]
        closing = [threading.Thread(target=averager.shutdown) for averager in group]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
        assert all(reply.cancelled() for reply in replies)


def test_the_end_of_a_dht_ends_the_step_on_it_and_hangs_nobody() -> None:
    tensors = [[torch.zeros(3)], [torch.ones(3)]]
    with swarm(2) as peers, averagers(peers, tensors, matchmaking_s=60.0) as group:
        replies = [averager.step(wait=False) for averager in group]
        peers[0].shutdown(PATIENCE_S)
        with pytest.raises(DhtStopped):
            replies[0].result(PATIENCE_S)
        with pytest.raises(DhtStopped):
            group[0].step()
        closing = threading.Thread(target=group[0].shutdown)
        closing.start()
        closing.join(PATIENCE_S)
        assert not closing.is_alive()
        assert not replies[1].done()  # the other goes on looking
    assert replies[1].cancelled()
    assert [mine[0].tolist() for mine in tensors] == [[0.0] * 3, [1.0] * 3]


def test_figures_go_into_a_run(tmp_path: Path) -> None:
    tensors = [[torch.zeros(3)], [torch.ones(3)]]
    with swarm(2) as peers, averagers(peers, tensors, target_group_size=2) as group:
        with strobe.init(project="p", dir=tmp_path) as run, Telemetry(run, {"averaging": group[0].figures}):
            step_together(group)
        assert run.summary["swarm/averaging/rounds"] == 1
        assert run.summary["swarm/averaging/group_size"] == 2
