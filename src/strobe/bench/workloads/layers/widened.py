"""What computes in 32 bits, for a row in 16: weights and inputs are those of 16 bits, and nothing else is rounded."""
# mypy: disallow-subclassing-any=False

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from strobe.bench.workloads.task import map_tensors


class Widened(nn.Module):
    """Hands inputs on in 32 bits."""

    def __init__(self, run: Callable[..., Any]) -> None:
        super().__init__()
        self.run = run

    def forward(self, *inputs: Any) -> Any:
        return self.run(*map_tensors(lambda x: x.float() if x.is_floating_point() else x, inputs))
