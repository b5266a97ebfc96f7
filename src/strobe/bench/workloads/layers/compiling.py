"""Compile with torch's inductor, the way inference wants it: weights frozen into the code, no dynamic shapes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def compile_frozen(model: nn.Module) -> Callable[..., Any]:
    """Compile for inference; weights become constants and may be laid out anew."""
    compiled: Callable[..., Any] = torch.compile(model, dynamic=False, options={"freezing": True})
    return _quiet(compiled)


def compile_training(model: nn.Module) -> Callable[..., Any]:
    """Compile forward and backward pass."""
    compiled: Callable[..., Any] = torch.compile(model, dynamic=False)
    return _quiet(compiled)


def _quiet(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """Silence the compiler's own deprecations, in the calls that compile; later calls are not wrapped by anything."""
    remaining = 8

    def call(*arguments: Any) -> Any:
        nonlocal remaining
        if remaining:
            remaining -= 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return compiled(*arguments)
        return compiled(*arguments)

    return call
