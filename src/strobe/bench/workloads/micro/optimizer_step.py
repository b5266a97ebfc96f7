"""Optimizer step: weights, gradients and states of a model go through the processor once; a matter of bandwidth.

Steps follow each other on the same weights and gradients, so the reference is that many steps of the formula.
Shapes: W weights, P weights that are looked at.
"""
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

from typing import Literal

import torch

from strobe.bench.workload import Correctness, Work
from strobe.bench.workloads.micro.kernel import Kernel

Rule = Literal["sgd", "momentum", "adamw"]
#: tensors that are read and written per weight, the gradient (read alone) apart
_STATES: dict[Rule, int] = {"sgd": 0, "momentum": 1, "adamw": 2}
_LR, _MOMENTUM, _DECAY, _BETAS, _EPS = 1e-3, 0.9, 0.01, (0.9, 0.999), 1e-8
#: values of each tensor that are compared
_PROBE = 16


class OptimizerStep(Kernel):
    """One step over tensors of the given sizes by torch's fused optimizer."""

    needs_gradients = True  # optimizers refuse tensors of inference mode

    def __init__(self, rule: Rule, sizes: tuple[int, ...], tolerance: float) -> None:
        super().__init__(tolerance)
        self.rule, self.sizes = rule, sizes

    def prepare(self, batch_size: int) -> None:
        self.num_steps = 0
        self.weights = [torch.randn(size).requires_grad_() for size in self.sizes]
        for weight in self.weights:
            weight.grad = torch.randn_like(weight)
        self.start_P, self.gradient_P = self._probe(), torch.cat([weight.grad[:_PROBE] for weight in self.weights])
        if self.rule == "adamw":
            self.optimizer: torch.optim.Optimizer = torch.optim.AdamW(
                self.weights, lr=_LR, betas=_BETAS, eps=_EPS, weight_decay=_DECAY, fused=True
            )
        else:
            momentum = _MOMENTUM if self.rule == "momentum" else 0.0
            self.optimizer = torch.optim.SGD(self.weights, lr=_LR, momentum=momentum, weight_decay=_DECAY, fused=True)

    def _probe(self) -> torch.Tensor:
        return torch.cat([weight.detach()[:_PROBE] for weight in self.weights])

    def run(self, index: int) -> None:
        self.optimizer.step()
        self.num_steps += 1

    def check(self, output: None, reference: torch.Tensor) -> Correctness:
        """Compare how far all steps have brought the weights: looking at them is no part of a step."""
        return super().check(self._probe() - self.start_P, reference)

    def work(self) -> Work:
        passes = 3 + 2 * _STATES[self.rule]
        return Work(examples=1, flops=0.0, bytes=4.0 * sum(self.sizes) * passes)

    def reference(self, index: int) -> torch.Tensor:
        """Give how far the steps that were taken bring the weights."""
        x_P, gradient_P = self.start_P.double(), self.gradient_P.double()
        first_P, second_P = torch.zeros_like(x_P), torch.zeros_like(x_P)
        for step in range(1, self.num_steps + 1):
            if self.rule == "adamw":
                x_P = x_P * (1 - _LR * _DECAY)
                first_P = _BETAS[0] * first_P + (1 - _BETAS[0]) * gradient_P
                second_P = _BETAS[1] * second_P + (1 - _BETAS[1]) * gradient_P**2
                mean_P, square_P = first_P / (1 - _BETAS[0] ** step), second_P / (1 - _BETAS[1] ** step)
                x_P = x_P - _LR * mean_P / (square_P.sqrt() + _EPS)
                continue
            decayed_P = gradient_P + _DECAY * x_P
            first_P = decayed_P if step == 1 or self.rule == "sgd" else _MOMENTUM * first_P + decayed_P
            x_P = x_P - _LR * first_P
        return x_P - self.start_P.double()


def optimizer_step(rule: Rule, sizes: tuple[int, ...], tolerance: float = 1e-3) -> OptimizerStep:
    """Make steps over tensors of so many weights each."""
    return OptimizerStep(rule, sizes, tolerance)
