"""The device that experts run on, and its memory, as torch tells. Standard library and torch only."""

from __future__ import annotations

import torch

_GB = 1024**3


def describe(device: str) -> dict[str, str]:
    """Return the name of an accelerator; nothing for the processor."""
    return {"device_name": torch.cuda.get_device_name(0)} if device.startswith("cuda") else {}


def memory(device: str) -> dict[str, float]:
    """Return what is allocated and reserved on an accelerator, in GB; nothing for the processor."""
    if not device.startswith("cuda"):
        return {}
    return {
        "allocated_gb": torch.cuda.memory_allocated(0) / _GB,
        "cached_gb": torch.cuda.memory_reserved(0) / _GB,
    }
