"""Optimized in what accelerators are made for: a model's fp32 optimization, in fewer bits.

Declared apart from the fp32 rows, which it leaves as they are. The reference is that of fp32, OOTB in float64.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from strobe.bench.workloads.optimized import OptimizedInference, OptimizedTraining
from strobe.bench.workloads.precision import Precision


def inference(factory: str, precision: Precision, tolerance: float, **parameters: Any) -> OptimizedInference:
    """Make what `module:factory` optimizes in fp32 with weights in another precision."""
    workload: OptimizedInference = _find(factory)(precision="fp32", tolerance=tolerance, **parameters)
    workload.precision = precision
    return workload


def training(factory: str, precision: Precision, tolerance: float, **parameters: Any) -> OptimizedTraining:
    """Make what `module:factory` trains in fp32 with products in another precision; weights stay in 32 bits."""
    workload: OptimizedTraining = _find(factory)(tolerance=tolerance, **parameters)
    workload.precision = precision
    return workload


def _find(factory: str) -> Any:
    module, _, name = factory.partition(":")
    return getattr(import_module(module), name)
