"""Greedy decoding of a whole batch at once, with blanks skipped many at a time.

Until something is emitted the predictor says the same, so that its output is kept, and one product looks at the next
frames of all examples together. The text is the same as that of decoding one by one.
Shapes: B batch, T frames, K frames looked ahead, J joint width, E examples that emit, L layers, P predictor width.
"""
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import torch

from strobe.bench.workloads.rnnt.model import Rnnt

#: frames that are looked at in one product
LOOK_AHEAD = 8


def decode_together(model: Rnnt, sound_BTF: torch.Tensor, frames_B: torch.Tensor) -> list[list[int]]:
    """Give the symbols of each example, as greedy decoding does."""
    blank, batch_size = model.config.blank, len(sound_BTF)
    joint = model.joint
    sound_BTJ = joint.sound(model.encoder(sound_BTF))
    lengths_B = (frames_B + 1) // 2
    predicted_BP, (hidden_LBP, cell_LBP) = model.predictor.step(None, None, batch_size)
    text_BJ = joint.text(predicted_BP)
    texts: list[list[int]] = [[] for _ in range(batch_size)]
    frame_B, emitted_B = torch.zeros_like(lengths_B), torch.zeros_like(lengths_B)
    device = sound_BTF.device
    ahead_K, all_B = torch.arange(LOOK_AHEAD, device=device), torch.arange(batch_size, device=device)[:, None]
    while bool((frame_B < lengths_B).any()):
        places_BK = frame_B[:, None] + ahead_K
        near_BKJ = sound_BTJ[all_B, places_BK.clamp(max=sound_BTJ.shape[1] - 1)]
        best_BK = joint.output(torch.relu(near_BKJ + text_BJ[:, None])).argmax(2)
        stops_BK = (best_BK != blank) & (places_BK < lengths_B[:, None])
        emits_B = stops_BK.any(1)
        skipped_B = torch.where(emits_B, stops_BK.int().argmax(1), LOOK_AHEAD)
        frame_B = frame_B + skipped_B
        emitted_B = emitted_B.masked_fill(skipped_B > 0, 0) + emits_B
        index_E = emits_B.nonzero()[:, 0]
        if not len(index_E):
            continue
        symbols_E = best_BK[index_E, skipped_B[index_E]]
        for example, symbol in zip(index_E.tolist(), symbols_E.tolist(), strict=True):
            texts[example].append(symbol)
        state = (hidden_LBP[:, index_E].contiguous(), cell_LBP[:, index_E].contiguous())
        predicted_EP, (hidden_LEP, cell_LEP) = model.predictor.step(symbols_E, state, len(index_E))
        hidden_LBP[:, index_E], cell_LBP[:, index_E] = hidden_LEP, cell_LEP
        text_BJ[index_E] = joint.text(predicted_EP)
        is_full_B = emitted_B == model.config.max_symbols
        frame_B, emitted_B = frame_B + is_full_B, emitted_B.masked_fill(is_full_B, 0)
    return texts
