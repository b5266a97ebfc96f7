"""Eight-bit integers by torch's own quantisation, static and calibrated, for convolutions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch.ao.quantization import QConfigMapping, get_default_qconfig_mapping
from torch.ao.quantization.quantize_fx import convert_fx, prepare_fx


def quantize_statically(model: nn.Module, calibration: Iterable[tuple[Any, ...]]) -> Callable[..., Any]:
    """Give the whole graph 8-bit weights and activations, scaled by what the calibration inputs show."""
    torch.backends.quantized.engine = "x86"
    examples = list(calibration)
    mapping: QConfigMapping = get_default_qconfig_mapping("x86")
    prepared = prepare_fx(model.eval(), mapping, example_inputs=examples[0])
    for inputs in examples:
        prepared(*inputs)
    quantized: Callable[..., Any] = convert_fx(prepared)
    return quantized
