"""Impressions: dense features, and for each table the rows of every example one after another."""

from __future__ import annotations

import numpy as np
import torch

from strobe.bench.workloads.data.zipf import draw_rows
from strobe.bench.workloads.dlrm.model import DlrmConfig
from strobe.bench.workloads.task import Batch


def draw_impressions(rng: np.random.Generator, batch_size: int, config: DlrmConfig, alpha: float) -> Batch:
    """Draw dense features [B, F], rows and offsets per table, and clicks [B, 1]."""
    dense = torch.from_numpy(rng.random((batch_size, config.bottom[0]), np.float32))
    rows, offsets = [], []
    for _ in range(config.num_tables):
        counts = np.full(batch_size, config.lookups)
        if not config.is_fixed:
            counts = rng.integers(1, config.lookups + 1, batch_size)
        rows.append(torch.from_numpy(draw_rows(rng, config.num_rows, int(counts.sum()), alpha)))
        offsets.append(torch.from_numpy(np.cumsum(counts) - counts))
    clicks = torch.from_numpy((rng.random((batch_size, 1)) < 0.1).astype(np.float32))
    return Batch((dense, tuple(rows), tuple(offsets)), clicks)
