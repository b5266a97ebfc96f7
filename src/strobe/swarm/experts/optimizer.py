"""Adam and plain gradient descent over torch's own kernels, with state that is nothing but named tensors.

Why not `torch.optim.Adam`: making one imports torch's compiler, which takes a server longer than everything else that
it does to start; the arithmetic is the same kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

import torch
from torch.optim.adam import adam

OptimizerName: TypeAlias = Literal["adam", "sgd", "none"]

_BETA1, _BETA2, _EPS = 0.9, 0.999, 1e-8


class Optimizer(Protocol):
    """Changes parameters by their gradients."""

    def step(self, rate: float) -> None: ...

    def state(self) -> dict[str, torch.Tensor]:
        """Return what it remembers; the tensors change with the next step."""

    def load(self, state: Mapping[str, torch.Tensor]) -> None:
        """Remember what another of the same parameters did; KeyError or RuntimeError if it does not fit."""


class _Descent:
    def __init__(self, parameters: Sequence[torch.Tensor]) -> None:
        self._parameters = parameters

    def step(self, rate: float) -> None:
        for parameter in self._parameters:
            if parameter.grad is not None:
                parameter.add_(parameter.grad, alpha=-rate)

    def state(self) -> dict[str, torch.Tensor]:
        return {}

    def load(self, state: Mapping[str, torch.Tensor]) -> None:
        pass


class _Adam:
    def __init__(self, parameters: Sequence[torch.Tensor]) -> None:
        self._parameters = parameters
        self._means: list[torch.Tensor] = []
        self._squares: list[torch.Tensor] = []
        self._steps: list[torch.Tensor] = []

    def step(self, rate: float) -> None:
        self._begin()
        used = [number for number, parameter in enumerate(self._parameters) if parameter.grad is not None]
        adam(
            [self._parameters[number] for number in used],
            [self._parameters[number].grad for number in used],
            [self._means[number] for number in used],
            [self._squares[number] for number in used],
            [],
            [self._steps[number] for number in used],
            fused=True,
            amsgrad=False,
            beta1=_BETA1,
            beta2=_BETA2,
            lr=rate,
            weight_decay=0.0,
            eps=_EPS,
            maximize=False,
        )

    def _begin(self) -> None:
        # With the first step: most servers never train most of their experts in the first seconds.
        if not self._means:
            self._means = [torch.zeros_like(parameter) for parameter in self._parameters]
            self._squares = [torch.zeros_like(parameter) for parameter in self._parameters]
            self._steps = [torch.zeros((), device=parameter.device) for parameter in self._parameters]

    def state(self) -> dict[str, torch.Tensor]:
        columns = {"mean": self._means, "square": self._squares, "step": self._steps}
        return {f"{number}.{name}": value for name, values in columns.items() for number, value in enumerate(values)}

    def load(self, state: Mapping[str, torch.Tensor]) -> None:
        if not state:
            return
        self._begin()
        with torch.no_grad():
            for name, value in self.state().items():
                if value.shape != state[name].shape:
                    raise RuntimeError(f"{name} has shape {tuple(state[name].shape)}, not {tuple(value.shape)}")
                value.copy_(state[name])


def make_optimizer(name: OptimizerName, parameters: Sequence[torch.Tensor]) -> Optimizer | None:
    """Return the optimizer of a name; None for "none", or when there is nothing to optimize."""
    if name == "none" or not parameters:
        return None
    return _Adam(parameters) if name == "adam" else _Descent(parameters)
