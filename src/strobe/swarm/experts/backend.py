"""One expert as a server holds it: a module, the optimizer that trains it on backward, and what it takes and gives.

Called by one thread at a time (`lock`); knows nothing of queues, peers and wires. Forward passes keep nothing: a
backward pass brings the inputs again and repeats the forward pass, so that a client may vanish between the two.
"""
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import inspect
import logging
import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, get_args

import numpy as np
import torch
from msgspec.structs import replace
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from strobe.errors import Error, UsageError
from strobe.swarm.experts.optimizer import OptimizerName, make_optimizer
from strobe.swarm.experts.registry import ExpertKind
from strobe.swarm.experts.schema import ExpertInfo
from strobe.swarm.experts.uid import ExpertUid, parse_uid
from strobe.swarm.tensors import TensorSpec

_log = logging.getLogger("strobe.swarm.experts")
_PROBE_ROWS = 3
#: elements up to which numpy's BLAS uses no threads, which would spin on beside torch's
_FEW: Final = 8192


class ExpertUnusable(Error):
    """A module does not do what an expert must."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """How experts learn. The rate rises over `warmup_steps`, then falls to nothing at `total_steps`, if given."""

    optimizer: OptimizerName = "adam"
    learning_rate: float = 1e-3
    warmup_steps: int = 0
    total_steps: int | None = None
    clip_grad_norm: float | None = None

    def __post_init__(self) -> None:
        if self.optimizer not in (names := get_args(OptimizerName)):
            raise UsageError(f"no optimizer {self.optimizer!r}; there are {', '.join(names)}")
        if not 0 <= self.learning_rate < math.inf:
            raise UsageError(f"the learning rate is {self.learning_rate:g}; give a number that is not below 0")
        if self.warmup_steps < 0:
            raise UsageError(f"warmup_steps is {self.warmup_steps}; give 0 for a rate that need not rise")
        if self.total_steps is not None and self.total_steps < max(1, self.warmup_steps):
            raise UsageError(
                f"total_steps is {self.total_steps} with {self.warmup_steps} steps of warm-up, which are among them; "
                "give more, or none for a rate that does not fall"
            )
        if self.clip_grad_norm is not None and not self.clip_grad_norm > 0:
            raise UsageError(
                f"clip_grad_norm is {self.clip_grad_norm:g}; give a norm above 0, or none for gradients as they are"
            )

    def rate_at(self, step: int) -> float:
        """Return the learning rate of the n-th step, counted from 0."""
        rate = self.learning_rate
        if step < self.warmup_steps:
            return rate * (step + 1) / self.warmup_steps
        if self.total_steps is None:
            return rate
        left = self.total_steps - step
        return rate * max(0.0, left / max(1, self.total_steps - self.warmup_steps))


class ExpertBackend:
    """A module that answers forward and backward passes over batches of rows.

    What it takes and gives is found out by trying it on `sample_inputs`, or is that of an expert of the same kind.
    """

    def __init__(
        self,
        uid: ExpertUid,
        module: nn.Module,
        sample_inputs: tuple[torch.Tensor, ...],
        *,
        expert_class: str = "custom",
        training: Training | None = None,
        max_batch_size: int = 4096,
        device: str = "cpu",
        like: ExpertInfo | None = None,
    ) -> None:
        self.uid = parse_uid(uid)
        self.device = _usable(device)
        self.training = training or Training()
        self.module = module.to(self.device)
        self.lock = threading.Lock()
        self.num_steps = 0
        #: steps left out because the gradients, or the sum of their squares, were not finite
        self.num_skipped = 0
        self._parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
        self.optimizer = make_optimizer(self.training.optimizer, self._parameters)
        if like is not None:
            self.info = replace(like, uid=uid)
        else:
            self.info = self._describe(sample_inputs, expert_class, max_batch_size)

    @classmethod
    def build(
        cls,
        uid: ExpertUid,
        kind: ExpertKind,
        hidden_dim: int,
        *,
        training: Training | None = None,
        max_batch_size: int = 4096,
        device: str = "cpu",
        like: ExpertInfo | None = None,
    ) -> ExpertBackend:
        """Return a new expert of a registered kind."""
        if hidden_dim < 1:
            raise UsageError(f"hidden_dim is {hidden_dim}; an expert is at least 1 wide")
        return cls(
            uid,
            kind.build(hidden_dim),
            kind.samples(_PROBE_ROWS, hidden_dim),
            expert_class=kind.name,
            training=training,
            max_batch_size=max_batch_size,
            device=device,
            like=like,
        )

    # -- passes ------------------------------------------------------------------------------------------------------

    def forward(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """Return the outputs for a batch, in main memory."""
        with torch.no_grad():
            outputs = self._call(inputs if self.device.type == "cpu" else [each.to(self.device) for each in inputs])
        return [output if output.is_cpu else output.to("cpu") for output in outputs]

    def backward(self, inputs: list[torch.Tensor], grad_outputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """Learn from a batch; return the gradients of its floating-point inputs, in main memory."""
        leaves = [tensor.detach().to(self.device).requires_grad_(tensor.is_floating_point()) for tensor in inputs]
        try:
            with torch.enable_grad():
                outputs = [output for output in self._call(leaves) if output.is_floating_point()]
                seeds = [
                    _Seed.apply(output, grad.to(self.device))
                    for output, grad in zip(outputs, grad_outputs, strict=True)
                    if output.requires_grad
                ]
                if seeds:
                    torch.autograd.backward(seeds)
            self._step()
        finally:  # what a pass that fails leaves behind is not the next one's
            for parameter in self._parameters:
                parameter.grad = None
        return [
            (torch.zeros_like(leaf) if leaf.grad is None else leaf.grad).detach().to("cpu")
            for leaf in leaves
            if leaf.requires_grad
        ]

    def _call(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        outputs = self.module(*inputs)
        return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]

    def _step(self) -> None:
        if self.optimizer is None:
            return
        with torch.no_grad():
            if self._gradients_are_bounded():
                self.optimizer.step(self.training.rate_at(self.num_steps))
                self.num_steps += 1
            else:
                # One batch that overflows must not be the end of everybody's expert.
                self.num_skipped += 1

    def _gradients_are_bounded(self) -> bool:
        limit = self.training.clip_grad_norm
        if limit is not None:
            return bool(torch.isfinite(nn.utils.clip_grad_norm_(self._parameters, limit)))
        return all(_has_finite_square(parameter.grad) for parameter in self._parameters if parameter.grad is not None)

    # -- description -------------------------------------------------------------------------------------------------

    def _describe(self, samples: tuple[torch.Tensor, ...], expert_class: str, max_batch_size: int) -> ExpertInfo:
        if max_batch_size < 1:
            raise UsageError(f"max_batch_size is {max_batch_size}; a batch has at least one row")
        names = _input_names(self.module, len(samples))
        if unfit := sorted({type(layer).__name__ for layer in self.module.modules() if _is_unfit(layer)}):
            _log.warning(
                "%s has %s: a backward pass repeats the forward pass and would drop others, and the rows of a batch "
                "are of several clients; take a mask as an input, as det_dropout does, or call eval() on the layer",
                expert_class,
                ", ".join(unfit),
            )
        outputs = self.forward(list(samples))
        for output in outputs:
            if not isinstance(output, torch.Tensor) or output.shape[:1] != samples[0].shape[:1]:
                raise ExpertUnusable(
                    f"{expert_class} gives {_described(output)} for {len(samples[0])} rows; "
                    "every output is a tensor with one row for each row of the input"
                )
        return ExpertInfo(
            self.uid,
            expert_class,
            dict(zip(names, _specs(samples), strict=True)),
            {str(number): spec for number, spec in enumerate(_specs(outputs))},
            max_batch_size,
        )


class _Seed(torch.autograd.Function):
    """A number whose gradient with respect to a tensor is a given one.

    Why not give it to `torch.autograd.backward`: that imports torch's symbolic shapes to compare two sizes, which makes
    the first backward pass of a server take seconds.
    """

    @staticmethod
    def forward(ctx: Any, output: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(grad)
        return output.new_zeros(())

    @staticmethod
    def backward(ctx: Any, _: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.saved_tensors[0], None


def _usable(name: str) -> torch.device:
    """Return the device of a name, if tensors get there and back."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).to("cpu")
    except (RuntimeError, AssertionError) as exc:  # the latter of a torch that was built without CUDA
        raise UsageError(
            f"experts cannot be on device {name!r}: {str(exc).splitlines()[0]:.200}; name one that this torch has, "
            "such as cpu"
        ) from exc
    return device


def _is_unfit(layer: nn.Module) -> bool:
    """Tell whether a layer gives something else when it is asked again, or in another company."""
    if not layer.training:
        return False
    dropped = layer.p if isinstance(layer, _DropoutNd) else getattr(layer, "dropout", 0.0)
    return isinstance(layer, _BatchNorm) or (isinstance(dropped, (int, float)) and dropped > 0)


def _has_finite_square(gradient: torch.Tensor) -> bool:
    """Tell whether the sum of the squares is finite.

    Adam remembers squares: one that overflowed is infinite for good, and its parameter never moves again.
    """
    if gradient.is_cpu and gradient.dtype in (torch.float32, torch.float64) and gradient.numel() <= _FEW:
        array = gradient.detach().numpy()  # torch takes longer to begin
        return math.isfinite(np.vdot(array, array))
    flat = gradient.reshape(-1)
    return math.isfinite(float(torch.dot(flat, flat)))


def _input_names(module: nn.Module, count: int) -> list[str]:
    names = [name for name in inspect.signature(module.forward).parameters if name != "self"]
    if len(names) < count:
        raise ExpertUnusable(f"{type(module).__name__}.forward takes {len(names)} tensors, its sample has {count}")
    return names[:count]


def _specs(tensors: Iterable[torch.Tensor]) -> list[TensorSpec]:
    """Return what each tensor is, row by row."""
    whole = [TensorSpec.of(tensor) for tensor in tensors]
    return [TensorSpec(spec.dtype, spec.shape[1:]) for spec in whole]


def _described(output: object) -> str:
    return f"shape {tuple(output.shape)}" if isinstance(output, torch.Tensor) else type(output).__name__
