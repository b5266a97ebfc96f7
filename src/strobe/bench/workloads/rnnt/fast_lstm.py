"""LSTMs in training with few examples: what can be done for all frames at once is done at once.

Out of the box, the gradient of the weights is added up frame by frame; with a few examples each time that is little
arithmetic on megabytes of weights. Here a frame only passes its state on, forward and backward; inputs and gradients of
weights are one product each over all frames.
Shapes: T frames, B batch, I inputs, H width, G = 4 H gates: input, forget, new, output.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.layers.fp32_linear import PackedLinear
from strobe.bench.workloads.layers.fp32_product import learn_linears, multiply
from strobe.bench.workloads.rnnt.model import Rnnt


class _Layer(torch.autograd.Function):
    """One layer over all frames, from a state of zero."""

    @staticmethod
    def forward(
        ctx: Any, x_TBI: torch.Tensor, input_GI: torch.Tensor, state_GH: torch.Tensor, bias_G: torch.Tensor
    ) -> torch.Tensor:
        frames, batch, _ = x_TBI.shape
        width = state_GH.shape[1]
        gates_TBG = multiply(x_TBI.flatten(0, 1), input_GI.t()).add_(bias_G).unflatten(0, (frames, batch))
        cells_TBH, outputs_TBH = (x_TBI.new_empty(frames, batch, width) for _ in range(2))
        cell_BH = output_BH = x_TBI.new_zeros(batch, width)
        pass_on = _product(state_GH)
        for gates_BG, next_cell_BH, next_output_BH in zip(gates_TBG, cells_TBH, outputs_TBH, strict=True):
            gates_BG.add_(pass_on(output_BH))
            take_BH, keep_BH, new_BH, give_BH = gates_BG.chunk(4, 1)
            gates_BG[:, : 2 * width].sigmoid_()
            new_BH.tanh_()
            give_BH.sigmoid_()
            torch.mul(keep_BH, cell_BH, out=next_cell_BH)
            next_cell_BH.addcmul_(take_BH, new_BH)
            torch.mul(next_cell_BH.tanh(), give_BH, out=next_output_BH)
            cell_BH, output_BH = next_cell_BH, next_output_BH
        ctx.save_for_backward(x_TBI, input_GI, state_GH, gates_TBG, cells_TBH, outputs_TBH)
        return outputs_TBH

    @staticmethod
    def backward(ctx: Any, grad_TBH: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        x_TBI, input_GI, state_GH, gates_TBG, cells_TBH, outputs_TBH = ctx.saved_tensors
        take_TBH, keep_TBH, new_TBH, give_TBH = gates_TBG.chunk(4, 2)
        width = state_GH.shape[1]
        seen_TBH = cells_TBH.tanh()
        before_TBH = F.pad(cells_TBH[:-1], (0, 0, 0, 0, 1, 0))
        # How the gates depend on the cell's gradient, and the output gate and the cell on the output's.
        by_cell = (
            new_TBH * take_TBH * (1 - take_TBH),
            before_TBH * keep_TBH * (1 - keep_TBH),
            take_TBH * (1 - new_TBH.square()),
        )
        by_cell_TB3H = torch.stack(by_cell, 2)
        give_by_output_TBH = seen_TBH * give_TBH * (1 - give_TBH)
        cell_by_output_TBH = give_TBH * (1 - seen_TBH.square())
        grads_TBG = torch.empty_like(gates_TBG)
        from_later_BH = cell_later_BH = torch.zeros_like(grad_TBH[0])
        pass_back = _product(state_GH.t())
        for t in reversed(range(len(grad_TBH))):
            grad_BH = grad_TBH[t] + from_later_BH
            cell_BH = torch.addcmul(cell_later_BH, grad_BH, cell_by_output_TBH[t])
            grads_BG = grads_TBG[t]
            torch.mul(by_cell_TB3H[t], cell_BH[:, None], out=grads_BG[:, : 3 * width].unflatten(1, (3, width)))
            torch.mul(grad_BH, give_by_output_TBH[t], out=grads_BG[:, 3 * width :])
            cell_later_BH = cell_BH * keep_TBH[t]
            from_later_BH = pass_back(grads_BG)
        grads_XG = grads_TBG.flatten(0, 1)
        grad_x_TBI = multiply(grads_XG, input_GI).view_as(x_TBI) if ctx.needs_input_grad[0] else None
        grad_input_GI = multiply(grads_XG.t(), x_TBI.flatten(0, 1))
        grad_state_GH = multiply(grads_TBG[1:].flatten(0, 1).t(), outputs_TBH[:-1].flatten(0, 1))
        return grad_x_TBI, grad_input_GI, grad_state_GH, grads_XG.sum(0)


def _product(weight_NK: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """Give x [B, K] to x wᵀ [B, N]: laid out once, because MKL would do so for every frame."""
    if weight_NK.device.type != "cpu" or weight_NK.dtype != torch.float32:
        return lambda x_BK: F.linear(x_BK, weight_NK)
    layer = nn.Linear(*reversed(weight_NK.shape), bias=False, device="meta")
    layer.weight = nn.Parameter(weight_NK)
    product: Callable[[torch.Tensor], torch.Tensor] = PackedLinear(layer)
    return product


def run_lstm(lstm: nn.LSTM, x_BTI: torch.Tensor) -> torch.Tensor:
    """Give the outputs [B, T, H] of all layers, one after another."""
    x_TBI = x_BTI.transpose(0, 1)
    for layer in range(lstm.num_layers):
        weights = (getattr(lstm, f"{name}_l{layer}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
        input_GI, state_GH, input_bias_G, state_bias_G = weights
        x_TBI = _Layer.apply(x_TBI.contiguous(), input_GI, state_GH, input_bias_G + state_bias_G)
    return x_TBI.transpose(0, 1)


class FastRnnt(nn.Module):
    """The model over the same weights, with LSTMs as above."""

    def __init__(self, model: Rnnt) -> None:
        super().__init__()
        self.model = model
        learn_linears(model.joint)

    def forward(self, sound_BTF: torch.Tensor, symbols_BU: torch.Tensor) -> torch.Tensor:
        encoder, predictor, joint = self.model.encoder, self.model.predictor, self.model.joint
        x_BTH = run_lstm(encoder.before, sound_BTF)
        x_BTH = F.pad(x_BTH, (0, 0, 0, x_BTH.shape[1] % 2))
        encoded_BTH = run_lstm(encoder.after, x_BTH.unflatten(1, (-1, 2)).flatten(2))
        predicted_BUP = run_lstm(predictor.lstm, F.pad(predictor.embedding(symbols_BU), (0, 0, 1, 0)))
        hidden_BTUJ = joint.sound(encoded_BTH)[:, :, None] + joint.text(predicted_BUP)[:, None]
        return joint.output(torch.relu_(hidden_BTUJ))
