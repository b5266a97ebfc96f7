"""What Optimized rows of several models do otherwise than OOTB, in the words of `Benchmark.changes`."""

from __future__ import annotations

#: of all Optimized rows: the runner starts their processes so (`runner.allocator`)
KEPT = "on CPUs: memory that steps free stays with the process (malloc gives none back)"
OWN_PRODUCTS = "on CPUs: products of linear layers by a kernel of our own where it is faster than torch's"
OWN_LINEAR = "on CPUs: linear layers by a kernel of our own, weights laid out beforehand"
INT8_LINEAR = "linear layers in 7 bits by a kernel of our own, a scale per column and, as they come, per token"
COMPILED = "on CUDA: compiled by torch"
WIDENED = "on CPUs that only emulate 16 bits: computed in 32"

_FOLDED = "batch norms folded into convolutions"
_COMPILED_CONVOLUTIONS = "on CUDA: channels last, compiled by torch"
CONVOLUTIONS = (
    _FOLDED,
    "on CPUs: convolutions by a kernel of our own, channels last, that adds shortcuts and cuts off below zero",
    _COMPILED_CONVOLUTIONS,
)
CONVOLUTIONS_IN_16_BITS = (_FOLDED, "on CPUs: computed in 32 bits by a kernel of our own", _COMPILED_CONVOLUTIONS)


def int8_convolutions(what: str) -> tuple[str, ...]:
    """Say what is done to convolutions, and what else is named, in 8 bits."""
    return (
        _FOLDED,
        f"{what} in 7 bits by a kernel of our own, calibrated, additions in 16",
        "biases corrected by what rounding shifts on the calibration inputs",
    )
