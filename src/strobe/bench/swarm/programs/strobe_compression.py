"""Our compressions in hivemind's benchmark, under hivemind's names where both have the same."""

from __future__ import annotations

import torch

from strobe._version import __version__
from strobe.bench.swarm.programs.compression_run import RoundTrip, run
from strobe.bench.swarm.programs.talk import Talk
from strobe.swarm.tensors import decode, encode

_NAMES = {
    "none": "NONE",
    "fp16": "FLOAT16",
    "bf16": "BFLOAT16",
    "uniform8": "UNIFORM_8BIT",
    "quantile8": "QUANTILE_8BIT",
    "blockwise8": "BLOCKWISE_8BIT",
}


def _way(compression: str) -> RoundTrip:
    def round_trip(tensor: torch.Tensor) -> tuple[torch.Tensor, int]:
        # One piece of bytes, as it leaves the machine and as the other one gets it.
        payload = encode({"x": tensor}, compression=compression).joined()
        return decode(payload).tensors()["x"], len(payload)

    return round_trip


def main() -> None:
    talk = Talk()
    talk.about(__version__)
    run(talk, {name: _way(compression) for compression, name in _NAMES.items()})
