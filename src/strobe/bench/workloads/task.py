"""A task: a model, the data it sees, what it is trained for, and the work that takes. Both implementations share it.

OOTB and Optimized workloads (`ootb`, `optimized`) run the same task, so that they cannot differ in weights or inputs.
A task knows nothing of how batches take turns, modes of measurement or clocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from strobe.bench.workload import Work

#: an output that is compared must not depend on these being in the reference's precision
_Move = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Batch:
    """Arguments of the model and of the loss; tensors, or tuples of tensors."""

    inputs: tuple[Any, ...]
    target: Any

    def map(self, move: _Move) -> Batch:
        """Apply a function to every tensor."""
        return Batch(map_tensors(move, self.inputs), map_tensors(move, self.target))

    def to(self, device: str, dtype: torch.dtype) -> Batch:
        """Move to a device; floating tensors take the type, integers stay."""
        return self.map(lambda x: x.to(device, dtype) if x.is_floating_point() else x.to(device))

    @property
    def input_bytes(self) -> int:
        """Size of all inputs."""
        sizes: list[int] = []
        map_tensors(lambda x: sizes.append(x.nbytes) or x, self.inputs)  # type: ignore[func-returns-value]  # visits
        return sum(sizes)


def map_tensors(move: _Move, value: Any) -> Any:
    """Apply a function to the tensors in nested tuples; anything else stays."""
    if isinstance(value, tuple):
        return tuple(map_tensors(move, item) for item in value)
    return move(value) if isinstance(value, torch.Tensor) else value


@dataclass(frozen=True, slots=True)
class Flops:
    """Of one forward pass; `of_data` is the part of layers fed by data, whose input needs no gradient."""

    forward: float
    of_data: float = 0.0

    @property
    def training(self) -> float:
        """Forward and backward: every product has two more for its gradients, but for the data's."""
        return 3 * self.forward - self.of_data


class Task(ABC):
    """What a model's workloads have in common."""

    #: the model's own precision
    dtype: torch.dtype = torch.float32
    #: of the reference; 64 bit unless the model would not fit
    reference_dtype: torch.dtype = torch.float64
    #: tensors that the optimizer keeps per weight
    optimizer_states: int = 0

    @abstractmethod
    def build(self) -> nn.Module:
        """Make the model with weights from torch's seed."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, batch_size: int) -> Batch:
        """Draw inputs and targets."""

    def num_batches(self, drawn: Sequence[Batch]) -> int:
        """Return how many batches steps take turns on, given the first that were drawn."""
        return len(drawn)

    @abstractmethod
    def loss(self, output: Any, target: Any) -> torch.Tensor:
        """Reduce the model's output in training to one number."""

    @abstractmethod
    def flops(self, batch: Batch) -> Flops:
        """Count the floating point operations of a forward pass from shapes."""

    def infer(self, model: Callable[..., Any], batch: Batch) -> Any:
        """Compute what inference answers; the first axis is the example."""
        return model(*batch.inputs)

    def optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        """Make the optimizer a researcher would take."""
        return torch.optim.SGD(model.parameters(), lr=0.01)

    def embedding_bytes(self, batch: Batch, value_bytes: int) -> int:
        """Size of the rows that lookups read, of so many bytes a value; tables are too large to count whole."""
        return 0

    def work(self, model: nn.Module, batch: Batch, training: bool) -> Work:
        """Describe one step."""
        value_bytes = next(model.parameters()).itemsize
        weights = self.embedding_bytes(batch, value_bytes) + sum(
            parameter.nbytes
            for module in model.modules()
            if not isinstance(module, nn.Embedding | nn.EmbeddingBag)
            for parameter in module.parameters(recurse=False)
        )
        flops = self.flops(batch)
        return Work(
            examples=len(batch.inputs[0]),
            flops=flops.training if training else flops.forward,
            bytes=batch.input_bytes + weights * ((3 + 2 * self.optimizer_states) if training else 1),
        )


def settle_statistics(model: nn.Module, batch: Batch) -> None:
    """Give batch norms the statistics of the data, as training would have; random weights explode or vanish without."""
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d | nn.BatchNorm3d)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = None  # then the running statistics are the plain mean over batches, here of one
    with torch.no_grad():
        model.train()(*batch.inputs)
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
