"""Pictures and their classes."""
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

import numpy as np
import torch

from strobe.bench.workloads.data.images import draw_images
from strobe.bench.workloads.task import Batch


def draw_labelled_images(rng: np.random.Generator, batch_size: int, size: int, num_classes: int) -> Batch:
    """Draw natural-like pictures [B, 3, size, size] and classes [B]."""
    images_BCHW = torch.from_numpy(draw_images(rng, batch_size, size))
    return Batch((images_BCHW,), torch.from_numpy(rng.integers(0, num_classes, batch_size)))
