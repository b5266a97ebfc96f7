"""Precisions that a workload can be asked for by name, and what they mean on a device."""

from __future__ import annotations

from typing import Literal

import torch

from strobe.errors import Error

Precision = Literal["fp32", "tf32", "bf16", "fp16"]

DTYPES: dict[Precision, torch.dtype] = {
    "fp32": torch.float32,
    "tf32": torch.float32,
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
}


def choose_precision(precision: Precision, device: str) -> torch.dtype:
    """Give the type of tensors in a precision; CUDA may round factors to TF32 only where that is what is asked for."""
    is_tf32 = precision == "tf32"
    if is_tf32 and not device.startswith("cuda"):
        raise Error(f"tf32 is a way of multiplying that only CUDA has, and the device is {device!r}; take fp32 there")
    torch.backends.cuda.matmul.allow_tf32 = is_tf32
    torch.backends.cudnn.allow_tf32 = is_tf32
    return DTYPES[precision]
