"""What a client sends to an expert: one batch, made once, of all that its kind takes."""

from __future__ import annotations

from typing import Any

import torch

from strobe.swarm.experts.registry import expert_kind


def make_inputs(job: dict[str, Any], device: str = "cpu") -> list[torch.Tensor]:
    """Return random numbers, and masks that hide nothing, in the shapes of the kind's own samples."""
    samples = expert_kind(job["expert_cls"]).samples(job["batch_size"], job["hid_dim"])
    return [(torch.randn_like(each) if each.is_floating_point() else each).to(device) for each in samples]
