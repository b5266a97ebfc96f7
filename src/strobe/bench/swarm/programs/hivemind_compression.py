"""hivemind's compressions in its own benchmark."""

from __future__ import annotations

import hivemind  # type: ignore[import-not-found]  # only in its own environment
import torch
from hivemind.compression import (  # type: ignore[import-not-found]
    deserialize_torch_tensor,
    serialize_torch_tensor,
)
from hivemind.proto.runtime_pb2 import CompressionType  # type: ignore[import-not-found]

from .compression_run import RoundTrip, run
from .talk import Talk


def _way(code: int) -> RoundTrip:
    def round_trip(tensor: torch.Tensor) -> tuple[torch.Tensor, int]:
        packed = serialize_torch_tensor(tensor, code)
        return deserialize_torch_tensor(packed), packed.ByteSize()

    return round_trip


def main() -> None:
    talk = Talk()
    talk.about(hivemind.__version__)
    run(talk, {name: _way(code) for name, code in CompressionType.items()})
