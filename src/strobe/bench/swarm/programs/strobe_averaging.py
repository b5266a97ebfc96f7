"""Our averagers in hivemind's benchmark: all peers in this process, each with an event loop of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import torch

from strobe._version import __version__
from strobe.bench.swarm.programs.averaging_run import group_bits, run
from strobe.bench.swarm.programs.talk import Talk
from strobe.swarm.averaging import DecentralizedAverager
from strobe.swarm.dht import DHT
from strobe.swarm.net.cipher import AES_GCM, PLAIN


class StrobeAverager:
    """One peer."""

    def __init__(self, averager: DecentralizedAverager) -> None:
        self._averager = averager

    def step(self, timeout_s: float) -> bool:
        outcome = self._averager.step(timeout_s=timeout_s)
        return outcome is not None and not outcome.failed

    def values(self) -> torch.Tensor:
        with self._averager.tensors() as tensors:
            return tensors[0].clone()


class StrobeField:
    """Peers that know one of them."""

    def __init__(self, job: dict[str, Any], stack: contextlib.ExitStack) -> None:
        self._job = job
        self._stack = stack
        self._suite = PLAIN if job["plain"] else AES_GCM
        self._root = stack.enter_context(DHT(suite=self._suite))

    def join(self, index: int, tensors: Sequence[torch.Tensor]) -> StrobeAverager:
        job = self._job
        dht = self._stack.enter_context(DHT([self._root.address], suite=self._suite))
        averager = DecentralizedAverager(
            tensors,
            dht,
            prefix="my_tensor",
            compression="fp16",
            target_group_size=job["target_group_size"],
            matchmaking_s=job["min_matchmaking_time"],
            round_timeout_s=job["round_timeout"],
            request_timeout_s=job["request_timeout"],
            group_bits=group_bits(job, index),
        )
        return StrobeAverager(self._stack.enter_context(averager))


def main() -> None:
    talk = Talk()
    talk.about(__version__)
    torch.set_num_threads(1)  # peers share this process: threads of each would be in the way of the others
    with contextlib.ExitStack() as stack:
        run(talk, StrobeField(talk.job, stack))
