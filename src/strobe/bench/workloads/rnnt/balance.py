"""Make random weights decode somewhat like trained ones: frames and symbols both matter, most frames emit nothing.

Fresh LSTMs hardly react to anything, so that the joint network gives one answer everywhere: all blank, or the same
symbol as often as it is let. The time of greedy decoding depends on how much is emitted, so that would measure nothing.
Texts still come in bursts and are about twice as long as real ones.
"""
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import torch
from torch import nn

from strobe.bench.workloads.rnnt.model import Rnnt

#: share of frames on which, at the start, something is emitted
_EMITTING = 0.35
#: deviation that the text brings to the joint network beside 1 of the sound; less, and one symbol repeats itself
_TEXT = 1.5


def balance(model: Rnnt) -> None:
    """Scale both inputs of the joint network, and shift the score of blank."""
    config = model.config
    with torch.no_grad():
        encoded_XH = model.encoder(torch.randn(4, 64, config.features)).flatten(0, 1)
        symbols_BU = torch.randint(0, config.blank, (4, encoded_XH.shape[0] // 4 - 1))
        predicted_XP = model.predictor(symbols_BU).flatten(0, 1)
        _standardise(model.joint.sound, encoded_XH, 1.0)
        _standardise(model.joint.text, predicted_XP, _TEXT)
        scores_XV = model.joint(encoded_XH, predicted_XP[torch.randperm(len(predicted_XP))])
        # No symbol is the favourite everywhere.
        model.joint.output.bias -= scores_XV.mean(0)
        # What the start says decides whether anything comes at all.
        scores_XV = model.joint(encoded_XH, predicted_XP[:1])
        margin_X = scores_XV[:, : config.blank].amax(1) - scores_XV[:, config.blank]
        model.joint.output.bias[config.blank] += margin_X.quantile(1 - _EMITTING)


def _standardise(layer: nn.Linear, x_XI: torch.Tensor, deviation: float) -> None:
    y_XO = layer(x_XI)
    scale = deviation / y_XO.std(0).mean()
    layer.weight *= scale
    layer.bias.copy_(-(y_XO.mean(0) - layer.bias) * scale)
