"""Make random weights decode somewhat like trained ones: frames and symbols both matter, and texts are as long as real.

Fresh LSTMs hardly react to anything, so that the joint network gives one answer everywhere: all blank, or the same
symbol as often as it is let. The time of greedy decoding depends on how much is emitted, so that would measure chance.
"""
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from strobe.bench.workloads.rnnt.data import SYMBOLS_PER_SECOND, draw_sound
from strobe.bench.workloads.rnnt.fast_decode import decode_together
from strobe.bench.workloads.rnnt.model import Rnnt

#: deviation that the text brings to the joint network beside 1 of the sound
_TEXT = 1.5
#: utterances to decode while balancing, and their frames before stacking (30 ms each)
_UTTERANCES, _FRAMES = 4, 48
_HALVINGS = 6


def balance(model: Rnnt) -> None:
    """Scale both inputs of the joint network, and shift the score of blank until texts have their usual length."""
    config = model.config
    rng = np.random.default_rng(int(torch.randint(2**31, ())))
    sound_BTF = torch.from_numpy(draw_sound(rng, _UTTERANCES, _FRAMES, config.features))
    with torch.no_grad():
        encoded_XH = model.encoder(sound_BTF).flatten(0, 1)
        predicted_XP = model.predictor(torch.randint(0, config.blank, (_UTTERANCES, _FRAMES // 2 - 1))).flatten(0, 1)
        _standardise(model.joint.sound, encoded_XH, 1.0)
        _standardise(model.joint.text, predicted_XP, _TEXT)
        scores_XV = model.joint(encoded_XH, predicted_XP[torch.randperm(len(predicted_XP))])
        # No symbol is the favourite everywhere.
        model.joint.output.bias -= scores_XV.mean(0)
        start_XV = model.joint(encoded_XH, predicted_XP[:1])
        start_X = start_XV[:, : config.blank].amax(1) - start_XV[:, config.blank]
        # What the start says decides whether anything comes at all: some frames must emit from there.
        _bisect_blank(model, sound_BTF, float(start_X.quantile(0.95)))


def _bisect_blank(model: Rnnt, sound_BTF: torch.Tensor, high: float) -> None:
    """Halve the range of what blank's score is raised by: the more it gets, the less is emitted."""
    bias_V, blank = model.joint.output.bias, model.config.blank
    wanted = SYMBOLS_PER_SECOND[model.config.symbols < 100] * 0.03 * _FRAMES * _UTTERANCES
    frames_B = torch.full((_UTTERANCES,), _FRAMES)
    low = min(0.0, high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        bias_V[blank] += middle
        length = sum(map(len, decode_together(model, sound_BTF, frames_B)))
        bias_V[blank] -= middle
        low, high = (middle, high) if length > wanted else (low, middle)
    bias_V[blank] += low  # rather too much text than none


def _standardise(layer: nn.Linear, x_XI: torch.Tensor, deviation: float) -> None:
    y_XO = layer(x_XI)
    scale = deviation / y_XO.std(0).mean()
    layer.weight *= scale
    layer.bias.copy_(-(y_XO.mean(0) - layer.bias) * scale)
