"""Lengths of sequences, described as traffic is measured: by percentiles, with straight lines between them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

#: of the share of sequences → length: what the public XLM-R configuration describes, at most 256 tokens
SHORT_TEXT: Mapping[float, int] = {0.0: 12, 0.4: 15, 0.8: 72, 1.0: 105}
#: seconds of speech, in hundredths; LibriSpeech's training set has 12 s on average and hardly anything above 16.7
READ_SPEECH: Mapping[float, int] = {0.0: 140, 0.1: 480, 0.25: 1120, 0.5: 1400, 0.75: 1520, 0.95: 1610, 1.0: 1670}


def draw_lengths(
    rng: np.random.Generator, size: int, percentiles: Mapping[float, int], maximum: int | None = None
) -> NDArray[np.int64]:
    """Draw lengths whose quantiles are those of the map, cut at `maximum`."""
    shares = sorted(percentiles)
    values = [percentiles[share] for share in shares]
    if not shares or shares[0] != 0 or shares[-1] != 1 or values != sorted(values) or values[0] < 1:
        raise ValueError(f"percentiles must rise from share 0 to share 1, lengths from 1 on: {dict(percentiles)}")
    lengths = np.rint(np.interp(rng.random(size), shares, values)).astype(np.int64)
    return lengths if maximum is None else np.minimum(lengths, maximum)
