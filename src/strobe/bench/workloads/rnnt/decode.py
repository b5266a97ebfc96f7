"""Greedy decoding: on each frame take the best symbol until it is blank.

Shapes: B batch, T frames, H encoder width, V symbols and blank.
"""
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

import torch

from strobe.bench.workloads.rnnt.model import Rnnt, State


def decode_greedily(model: Rnnt, sound_BTF: torch.Tensor, frames_B: torch.Tensor) -> list[list[int]]:  # noqa: N803 -- shape
    """Give the symbols of each example; `frames_B` counts frames before the encoder's stacking."""
    encoded_BTH = model.encoder(sound_BTF)
    lengths = ((frames_B + 1) // 2).tolist()
    return [_decode_one(model, encoded_TH[:length]) for encoded_TH, length in zip(encoded_BTH, lengths, strict=True)]


def _decode_one(model: Rnnt, encoded_TH: torch.Tensor) -> list[int]:  # noqa: N803 -- shape
    symbols: list[int] = []
    state: State | None = None
    for encoded_H in encoded_TH:
        for _ in range(model.config.max_symbols):
            last_1 = torch.tensor(symbols[-1:], device=encoded_H.device) if symbols else None
            predicted_1P, next_state = model.predictor.step(last_1, state, batch_size=1)
            best = int(model.joint(encoded_H[None], predicted_1P).argmax())
            if best == model.config.blank:
                break
            symbols.append(best)
            state = next_state
    return symbols
