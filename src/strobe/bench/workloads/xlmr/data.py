"""Sentences: token frequencies after Zipf, lengths fixed or as measured, padded to the longest of the batch."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from strobe.bench.workloads.data.lengths import draw_lengths
from strobe.bench.workloads.data.zipf import draw_rows
from strobe.bench.workloads.task import Batch
from strobe.bench.workloads.xlmr.model import PAD

#: tokens below are marks: begin, padding, end, unknown
_FIRST_WORD = 4


def draw_sentences(
    rng: np.random.Generator,
    batch_size: int,
    vocabulary: int,
    num_classes: int,
    *,
    sequence: int,
    percentiles: Mapping[float, int] | None = None,
) -> Batch:
    """Draw tokens [B, S] and a class for each of them [B, S]; S is `sequence`, or with percentiles at most that."""
    if percentiles is None:
        lengths = np.full(batch_size, sequence)
    else:
        lengths = draw_lengths(rng, batch_size, percentiles, sequence)
    longest = int(lengths.max())
    words = _FIRST_WORD + draw_rows(rng, vocabulary - _FIRST_WORD, batch_size * longest, alpha=1.0)
    tokens = words.reshape(batch_size, longest)
    tokens[np.arange(longest)[None, :] >= lengths[:, None]] = PAD
    classes = rng.integers(0, num_classes, (batch_size, longest))
    return Batch((torch.from_numpy(tokens),), torch.from_numpy(classes))
