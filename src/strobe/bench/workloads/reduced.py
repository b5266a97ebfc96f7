"""Optimized inference in what accelerators are made for: a model's fp32 optimization, with weights in fewer bits.

Declared apart from the fp32 rows, which it leaves as they are. The reference is that of fp32, OOTB in float64.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from strobe.bench.workloads.optimized import OptimizedInference
from strobe.bench.workloads.precision import Precision


def inference(factory: str, precision: Precision, tolerance: float, **parameters: Any) -> OptimizedInference:
    """Make what `module:factory` optimizes in fp32, in another precision."""
    module, _, name = factory.partition(":")
    workload: OptimizedInference = getattr(import_module(module), name)(
        precision="fp32", tolerance=tolerance, **parameters
    )
    workload.precision = precision
    return workload
