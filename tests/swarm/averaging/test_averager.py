"""Averagers on real peers: what comes out, who has which part in it, and what is refused."""

from __future__ import annotations

import pytest
import torch

from .peers import averagers, step_together, swarm


def random_tensors(count: int) -> list[list[torch.Tensor]]:
    return [[torch.randn(50, 21), torch.randn(()), torch.randn(7)] for _ in range(count)]


def weighted_mean(tensors: list[list[torch.Tensor]], weights: list[float]) -> list[torch.Tensor]:
    total = sum(weights)
    return [sum(w * t for w, t in zip(weights, column, strict=True)) / total for column in zip(*tensors, strict=True)]  # type: ignore[misc]


@pytest.mark.parametrize("compression", ["none", "fp16"])
def test_eight_peers_get_the_same_weighted_mean(compression: str) -> None:
    tensors = random_tensors(8)
    weights = [1.0, 2.0, 0.5, 3.0, 1.0, 1.0, 4.0, 0.25]
    expected = weighted_mean(tensors, weights)
    with (
        swarm(8) as peers,
        averagers(peers, tensors, target_group_size=8, compression=compression, part_bytes=512) as group,
    ):
        rounds = step_together(group, weights)
    for round_ in rounds:
        assert round_.members == rounds[0].members
        assert round_.group_size == 8
        assert round_.failed == frozenset()
        assert round_.gathered == {dht.peer_id: place for place, dht in enumerate(peers)}
    for mine in tensors:
        for got, first, mean in zip(mine, tensors[0], expected, strict=True):
            assert torch.equal(got, first)  # bit by bit
            torch.testing.assert_close(got, mean, atol=1e-5 if compression == "none" else 4e-3, rtol=1e-5)
