"""Averagers for tests: real peers on 127.0.0.1, in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from strobe.swarm.averaging import DecentralizedAverager, Round
from strobe.swarm.dht import DHT, Options

#: for answers that do come: a machine may be busy
PATIENCE_S = 60.0


@contextlib.contextmanager
def swarm(count: int, *, clients: int = 0) -> Iterator[list[DHT]]:
    """Peers that know each other; the last ones are in client mode."""
    options = Options(timeout_s=2.0)
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(DHT(options=options))]
        for number in range(1, count):
            is_client = number >= count - clients
            peers.append(stack.enter_context(DHT([peers[0].address], options=options, client_mode=is_client)))
        yield peers


@contextlib.contextmanager
def averagers(
    peers: Sequence[DHT], tensors: Sequence[Sequence[torch.Tensor]], **settings: Any
) -> Iterator[list[DecentralizedAverager]]:
    """One averager per peer."""
    # Nobody is to be taken for dead because the machine is busy.
    settings = {"prefix": "test", "matchmaking_s": 30.0, "request_timeout_s": 30.0, "round_timeout_s": 60.0, **settings}
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(DecentralizedAverager(mine, dht, **settings))
            for dht, mine in zip(peers, tensors, strict=True)
        ]


def step_together(group: Sequence[DecentralizedAverager], weights: Sequence[float] | None = None) -> list[Round]:
    """Let all step at the same time; return their rounds, of which there must be one for each."""
    weights = weights or [1.0] * len(group)
    replies = [
        each.step(weight=weight, gather=place, wait=False)
        for place, (each, weight) in enumerate(zip(group, weights, strict=True))
    ]
    rounds = [reply.result(PATIENCE_S) for reply in replies]
    assert all(rounds)
    return [round_ for round_ in rounds if round_ is not None]
