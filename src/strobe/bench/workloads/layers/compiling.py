"""Compile with torch's inductor: for the very shapes that are measured, for inference with weights frozen in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def compile_frozen(model: nn.Module) -> Callable[..., Any]:
    """Compile for inference; weights become constants and may be laid out anew. Happens at the first call.

    On CUDA, launches are recorded as a graph, too.
    """
    is_cuda = next(model.parameters()).device.type == "cuda"
    options = {"freezing": True, "triton.cudagraphs": is_cuda}
    compiled: Callable[..., Any] = torch.compile(model, dynamic=False, options=options)
    return compiled


def compile_training(model: nn.Module) -> Callable[..., Any]:
    """Compile forward and backward pass, at the first call of each."""
    compiled: Callable[..., Any] = torch.compile(model, dynamic=False)
    return compiled
