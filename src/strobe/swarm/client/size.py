"""How long messages are whose tensors are known beforehand: a longer answer is not read, a longer request not taken."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from strobe.swarm.tensors import Bounds, TensorSpec
from strobe.swarm.tensors.layout import DEFAULT_BOUNDS, size_of

#: what compression may add to a tensor that is too small to gain by it (a table of levels, scales), rounded up
_TABLE_BYTES: Final = 4096
_LENGTH_BYTES: Final = 8


def most_bytes(specs: Iterable[TensorSpec], bounds: Bounds = DEFAULT_BOUNDS) -> int:
    """Return how many bytes a message of these tensors has at most, whichever way they are compressed."""
    tensors = sum(size_of(spec.dtype, spec.shape) + _TABLE_BYTES for spec in specs)
    return _LENGTH_BYTES + bounds.max_header_bytes + tensors


def most_rows(specs: Iterable[TensorSpec], bounds: Bounds = DEFAULT_BOUNDS) -> int:
    """Return how many rows of these tensors fit into one message, whichever way they are compressed."""
    row = sum(size_of(spec.dtype, spec.shape) for spec in specs)
    return (bounds.max_bytes - _LENGTH_BYTES - bounds.max_header_bytes) // max(1, row)
