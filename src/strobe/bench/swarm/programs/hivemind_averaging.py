"""hivemind's averagers in its own benchmark: per peer a process that averages, one of its DHT, and a daemon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import hivemind  # type: ignore[import-not-found]  # only in its own environment
import torch
from hivemind.averaging import DecentralizedAverager  # type: ignore[import-not-found]
from hivemind.compression import Float16Compression  # type: ignore[import-not-found]

from .averaging_run import group_bits, run
from .talk import Talk


class HivemindAverager:
    """One peer."""

    def __init__(self, averager: Any) -> None:
        self._averager = averager

    def step(self, timeout_s: float) -> bool:
        try:
            return self._averager.step(timeout=timeout_s) is not None
        except Exception:  # noqa: BLE001  # its script counts whatever it raises as a step that failed
            return False

    def values(self) -> torch.Tensor:
        with self._averager.get_tensors() as tensors:
            return tensors[0].clone()


class HivemindField:
    """Peers that know one of them."""

    def __init__(self, job: dict[str, Any]) -> None:
        self._job = job
        self._root = hivemind.DHT(start=True)
        self._addresses = self._root.get_visible_maddrs()
        self._processes: list[Any] = [self._root]

    def join(self, index: int, tensors: Sequence[torch.Tensor]) -> HivemindAverager:
        job = self._job
        dht = hivemind.DHT(initial_peers=self._addresses, start=True)
        averager = DecentralizedAverager(
            tensors,
            dht,
            prefix="my_tensor",
            initial_group_bits=group_bits(job, index),
            compression=Float16Compression(),
            target_group_size=job["target_group_size"],
            min_matchmaking_time=job["min_matchmaking_time"],
            request_timeout=job["request_timeout"],
            start=True,
        )
        self._processes += [averager, dht]
        return HivemindAverager(averager)

    def close(self) -> None:
        for process in reversed(self._processes):
            process.shutdown()


def main() -> None:
    talk = Talk()
    talk.about(hivemind.__version__)
    field = HivemindField(talk.job)
    try:
        run(talk, field)
    finally:
        field.close()
