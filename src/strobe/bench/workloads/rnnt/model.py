"""RNN-T: an encoder of sound, a predictor of text, and a joint network that says "next symbol" or "next frame" (blank).

Sizes are those of MLPerf: frames of 80 mel bands are stacked by three before the model and by two within the encoder.
Shapes: B batch, T frames, F features, H encoder width, U symbols, P predictor width, J joint width, V
symbols with blank.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

State = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class RnntConfig:
    """Sizes of the three networks."""

    name: str
    #: blank included, which is the last
    symbols: int
    predictor_width: int
    features: int = 240
    encoder_width: int = 1024
    layers_before_stacking: int = 2
    layers_after_stacking: int = 3
    predictor_layers: int = 2
    joint_width: int = 512
    #: symbols that greedy decoding emits at most on one frame
    max_symbols: int = 30

    @property
    def blank(self) -> int:
        """The symbol that moves on in time."""
        return self.symbols - 1


MLPERF_TRAINING = RnntConfig(name="mlperf-training", symbols=1024, predictor_width=512)
MLPERF_INFERENCE = RnntConfig(name="mlperf-inference", symbols=29, predictor_width=320)
CONFIGS = {config.name: config for config in (MLPERF_TRAINING, MLPERF_INFERENCE)}


class Encoder(nn.Module):
    """LSTMs over sound; between them, neighbouring frames are put side by side, which halves the time."""

    def __init__(self, config: RnntConfig) -> None:
        super().__init__()
        width = config.encoder_width
        self.before = nn.LSTM(config.features, width, config.layers_before_stacking, batch_first=True)
        self.after = nn.LSTM(2 * width, width, config.layers_after_stacking, batch_first=True)

    def forward(self, sound_BTF: torch.Tensor) -> torch.Tensor:
        x_BTH, _ = self.before(sound_BTF)
        x_BTH = F.pad(x_BTH, (0, 0, 0, x_BTH.shape[1] % 2))
        encoded_BTH, _ = self.after(x_BTH.unflatten(1, (-1, 2)).flatten(2))
        return encoded_BTH


class Predictor(nn.Module):
    """LSTMs over the symbols so far; before the first, the input is zero."""

    def __init__(self, config: RnntConfig) -> None:
        super().__init__()
        width = config.predictor_width
        self.embedding = nn.Embedding(config.symbols - 1, width)
        self.lstm = nn.LSTM(width, width, config.predictor_layers, batch_first=True)

    def forward(self, symbols_BU: torch.Tensor) -> torch.Tensor:
        """Predict after none, one, ... all symbols: [B, U + 1, P]."""
        predicted_BUP, _ = self.lstm(F.pad(self.embedding(symbols_BU), (0, 0, 1, 0)))
        return predicted_BUP

    def step(self, symbol_B: torch.Tensor | None, state: State | None, batch_size: int) -> tuple[torch.Tensor, State]:
        """Go on by one symbol; none is the start."""
        if symbol_B is None:
            x_B1P = self.embedding.weight.new_zeros(batch_size, 1, self.embedding.embedding_dim)
        else:
            x_B1P = self.embedding(symbol_B[:, None])
        predicted_B1P, state = self.lstm(x_B1P, state)
        return predicted_B1P[:, 0], state


class Joint(nn.Module):
    """Scores of symbols for any pair of a frame and a prediction."""

    def __init__(self, config: RnntConfig) -> None:
        super().__init__()
        self.sound = nn.Linear(config.encoder_width, config.joint_width)
        self.text = nn.Linear(config.predictor_width, config.joint_width)
        self.output = nn.Linear(config.joint_width, config.symbols)

    def forward(self, encoded_XH: torch.Tensor, predicted_XP: torch.Tensor) -> torch.Tensor:
        return self.output(torch.relu(self.sound(encoded_XH) + self.text(predicted_XP)))


class Rnnt(nn.Module):
    """Sound and the symbols said, to scores at every place of the lattice: [B, T, U + 1, V]."""

    def __init__(self, config: RnntConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.predictor = Predictor(config)
        self.joint = Joint(config)

    def forward(self, sound_BTF: torch.Tensor, symbols_BU: torch.Tensor) -> torch.Tensor:
        encoded_BTH, predicted_BUP = self.encoder(sound_BTF), self.predictor(symbols_BU)
        hidden_BTUJ = self.joint.sound(encoded_BTH)[:, :, None] + self.joint.text(predicted_BUP)[:, None]
        return self.joint.output(torch.relu(hidden_BTUJ))
