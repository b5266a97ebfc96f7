"""Questions with object tags, and regions of pictures as a detector describes them."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from strobe.bench.workloads.data.lengths import draw_lengths
from strobe.bench.workloads.data.zipf import draw_rows
from strobe.bench.workloads.task import Batch

#: shares of the text's length: a question of some ten words, then tags of the objects that were found
_TEXT = {0.0: 12, 0.5: 40, 0.9: 80, 1.0: 128}
#: of 50 regions; most pictures have as many
_REGIONS = {0.0: 10, 0.2: 36, 0.4: 50, 1.0: 50}


def draw_questions(
    rng: np.random.Generator, batch_size: int, *, vocabulary: int, answers: int, text: int, regions: int, features: int
) -> Batch:
    """Draw tokens and types [B, T], regions [B, R, V], mask [B, T + R] and soft answers [B, A]."""
    text_lengths = draw_lengths(rng, batch_size, _TEXT, text)[:, None]
    region_counts = draw_lengths(rng, batch_size, _REGIONS, regions)[:, None]
    places = np.arange(text)[None, :]
    tokens = 1 + draw_rows(rng, vocabulary - 1, batch_size * text, alpha=1.0).reshape(batch_size, text)
    tokens[places >= text_lengths] = 0
    # The question is the first part and has type 0, tags have type 1.
    types = ((places >= np.minimum(text_lengths, 12)) & (places < text_lengths)).astype(np.int64)
    # Detector features come out of a ReLU: not negative, most of them small.
    seen = np.maximum(rng.standard_normal((batch_size, regions, features)) - 0.5, 0).astype(np.float32)
    is_region = np.arange(regions)[None, :] < region_counts
    seen[~is_region] = 0
    mask = np.concatenate([places < text_lengths, is_region], 1)
    target: NDArray[np.float32] = np.zeros((batch_size, answers), np.float32)
    target[np.arange(batch_size), rng.integers(0, answers, batch_size)] = 1.0
    inputs = (torch.from_numpy(tokens), torch.from_numpy(types), torch.from_numpy(seen), torch.from_numpy(mask))
    return Batch(inputs, torch.from_numpy(target))
