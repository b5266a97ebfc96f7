"""Did training learn what it ought to? Losses of a few steps hardly tell: a layer that stands still is lost in them.

So whatever the first step changes, weights and statistics of norms, is compared by its update: root mean square of the
difference over that of the reference's update, tensor by tensor. A tensor that does not learn errs by 1 however small
it is. It is a mean over the tensor and not its greatest value, because Adam's first steps are as long as the learning
rate whatever the gradient is: where that is next to nothing, rounding chooses the direction.

It is the first step, because later ones start from weights that differ already: with a learning rate of 0.1 and norms
over two clips, 32 bits are two thirds off by the third step, and nobody is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch
from torch import nn

from strobe.bench.workload import Correctness
from strobe.bench.workloads.correctness import compare_losses
from strobe.bench.workloads.precision import Precision

#: values of a tensor that are compared; larger ones are compared by some of the rows that the first step changes
_SAMPLE = 2**18
#: beside the other tensors' gradients, one below this is rounding. The bias of keys has such a one, since softmax does
#: not see it, and Adam would make whole steps of it
_NO_GRADIENT = 1e-6
#: greatest error of an update in 32 bits: rows of the suite err by at most 0.02, what stands still by 1
_TOLERANCE = 0.05
#: and of its length, which is all that is compared in fewer bits: there, rounding chooses where small gradients point
_LENGTH_TOLERANCE = 0.5


@dataclass(frozen=True, slots=True)
class Update:
    """How far some rows of a tensor went."""

    rows: torch.Tensor
    start: torch.Tensor
    end: torch.Tensor

    @property
    def length(self) -> float:
        """How far all of them went together."""
        return float((self.end - self.start).norm())

    def error_of(self, tensor: torch.Tensor) -> float:
        """Give how far a tensor is from where it should be, relative to the way there."""
        return float((tensor.detach().index_select(0, self.rows) - self.end).norm()) / self.length

    def length_error_of(self, tensor: torch.Tensor) -> float:
        """Give how much too long or short a tensor's way was."""
        way = float((tensor.detach().index_select(0, self.rows) - self.start).norm())
        return abs(way / self.length - 1)


@dataclass(frozen=True, slots=True)
class Learned:
    """What training gives: the loss of every step, and the updates of the first one."""

    losses_N: torch.Tensor  # noqa: N815 -- shape suffix
    updates: Mapping[str, Update]


class Lesson:
    """Watches a model take its first step; `own` are the names that a process has, if not all."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, own: Container[str] | None = None) -> None:
        self.model, self.own = model, own
        #: where tensors began, and which of their rows that are; norms learn their statistics in the forward pass
        self.starts = {
            name: (torch.arange(len(value), device=value.device), value.clone())
            for name, value in model.named_buffers()
            if value.is_floating_point() and value.dim()
        }
        self.updates: dict[str, Update] = {}
        self.hooks = (
            optimizer.register_step_pre_hook(self._see_gradients),
            optimizer.register_step_post_hook(self._see_updates),
        )

    def _see_gradients(self, *_: Any) -> None:
        """Remember where parameters begin, now that it is known which of them, and which rows of tables, will learn."""
        gradients = {
            name: parameter.grad.coalesce() if parameter.grad.is_sparse else parameter.grad
            for name, parameter in self.model.named_parameters()
            if parameter.grad is not None
        }
        sizes = {name: _root_mean_square(gradient) for name, gradient in gradients.items()}
        least = _NO_GRADIENT * median(sizes.values())
        for name, parameter in self.model.named_parameters():
            if sizes.get(name, 0.0) > least:
                rows = _choose_rows(gradients[name])
                self.starts[name] = (rows, parameter.detach().index_select(0, rows))

    def _see_updates(self, *_: Any) -> None:
        for hook in self.hooks:
            hook.remove()
        tensors = tensors_of(self.model)
        for name, (rows, start) in self.starts.items():
            update = Update(rows, start, tensors[name].detach().index_select(0, rows))
            if update.length > 0 and (self.own is None or name in self.own):
                self.updates[name] = update

    def end(self, losses: list[torch.Tensor]) -> Learned:
        """Give what was learned."""
        return Learned(torch.stack(losses), self.updates)


def tensors_of(model: nn.Module) -> dict[str, torch.Tensor]:
    """Give all that training may change, by name."""
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def compare_learning(
    loss: torch.Tensor,
    tensors: Mapping[str, torch.Tensor],
    reference: Learned,
    *,
    tolerance: float,
    precision: Precision,
    name: str,
) -> Correctness:
    """Compare tensors after the first step and, if all are right, the loss of the last."""
    is_exact = precision == "fp32"
    errors = {
        of: update.error_of(tensors[of]) if is_exact else update.length_error_of(tensors[of])
        for of, update in reference.updates.items()
    }
    # A NaN is greater than any error, and not below any tolerance.
    worst = max(errors, key=lambda of: (math.isnan(errors[of]), errors[of]))
    greatest = _TOLERANCE if is_exact else _LENGTH_TOLERANCE
    if errors[worst] <= greatest:
        return compare_losses(loss, reference.losses_N, tolerance, name)
    return Correctness(
        is_correct=False,
        error=errors[worst],
        max_error=errors[worst],
        tolerance=greatest,
        reference=f"{name}, update of {worst}",
    )


def _root_mean_square(gradient: torch.Tensor) -> float:
    values = gradient.values() if gradient.is_sparse else gradient
    return float(values.norm()) / math.sqrt(gradient.numel())


def _choose_rows(gradient: torch.Tensor) -> torch.Tensor:
    """Give all rows, or evenly spread ones of those with a gradient if there are too many values."""
    if gradient.numel() <= _SAMPLE:
        return torch.arange(len(gradient), device=gradient.device)
    rows = gradient.indices()[0] if gradient.is_sparse else gradient.flatten(1).any(1).nonzero()[:, 0]
    wanted = max(1, _SAMPLE * len(gradient) // gradient.numel())
    return rows[:: -(-len(rows) // wanted)]
