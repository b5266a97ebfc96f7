"""Utterances: mel bands that change slowly, as speech does, and text at the pace of reading aloud."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from strobe.bench.workloads.data.lengths import READ_SPEECH, draw_lengths
from strobe.bench.workloads.data.zipf import draw_rows
from strobe.bench.workloads.rnnt.model import RnntConfig
from strobe.bench.workloads.task import Batch

#: frames of 10 ms that are stacked before the model
_STACKED = 3
#: of speech that is read aloud, in letters and in pieces of words
SYMBOLS_PER_SECOND = {True: 14.0, False: 3.4}
#: how much of a frame is carried over from the one before
_INERTIA = 0.8


def draw_utterances(rng: np.random.Generator, batch_size: int, config: RnntConfig, max_seconds: float) -> Batch:
    """Draw sound [B, T, F] and symbols [B, U]; the target is symbols, frames [B] and lengths [B]."""
    hundredths = draw_lengths(rng, batch_size, READ_SPEECH, round(100 * max_seconds))
    frames = -(-hundredths // _STACKED)
    pace = SYMBOLS_PER_SECOND[config.symbols < 100]
    lengths = np.maximum(1, np.rint(hundredths / 100 * pace * rng.uniform(0.8, 1.2, batch_size))).astype(np.int64)
    symbols = draw_rows(rng, config.symbols - 1, batch_size * int(lengths.max()), alpha=0.7).reshape(batch_size, -1)
    sound = draw_sound(rng, batch_size, int(frames.max()), config.features)
    inputs = (torch.from_numpy(sound), torch.from_numpy(symbols))
    return Batch(inputs, (inputs[1], torch.from_numpy(frames), torch.from_numpy(lengths)))


def draw_sound(rng: np.random.Generator, batch_size: int, frames: int, features: int) -> NDArray[np.float32]:
    """Draw features [B, T, F] of unit variance, each frame much like the one before."""
    sound: NDArray[np.float32] = rng.standard_normal((batch_size, frames, features), np.float32)
    fresh = np.float32(np.sqrt(1 - _INERTIA**2))
    for frame in range(1, frames):
        sound[:, frame] = _INERTIA * sound[:, frame - 1] + fresh * sound[:, frame]
    return sound
