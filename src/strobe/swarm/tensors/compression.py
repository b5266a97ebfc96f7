"""Lossy ways to send floating-point tensors in fewer bytes, each with a bound on what it changes.

    none        exact
    fp16        half precision, finite values beyond ±65504 clamped: |error| ≤ |x|·2⁻¹¹, or 2⁻²⁵ below 2⁻¹⁴
    bf16        |error| ≤ |x|·2⁻⁸, or 2⁻¹³⁴ below 2⁻¹²⁶; the whole range of float32
    uniform8    256 levels from the tensor's least to its greatest value: |error| ≤ (max - min)/510
    quantile8   256 levels where the values are: |error| ≤ half the widest gap between neighbouring levels; on values
                with heavy tails the median error is a fraction of uniform8's
    blockwise8  255 levels for each 4,096 values, up to the greatest of these: |error| ≤ max|block|/254

To the bounds comes the rounding of one float32 operation. Values that are not finite have no level: the 8-bit ways
raise NotFinite. A codec turns a tensor into named tensors that a safetensors file can hold, and back; what comes back
from a stranger is checked here too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from strobe.errors import UsageError
from strobe.swarm.tensors.layout import MalformedTensors

Parts: TypeAlias = Mapping[str, torch.Tensor]

_BLOCK: Final = 4096
_LEVELS: Final = 256
_SAMPLE: Final = 100_000
_MAX_FP16: Final = 65504.0
#: elements up to which BLAS uses no threads
_FEW: Final = 8192


class NotFinite(UsageError):
    """A tensor has NaN or infinite values where there must be none."""


def is_finite(tensor: torch.Tensor) -> bool:
    """Tell whether all values are finite, in one pass without temporaries unless one is not."""
    if not tensor.is_floating_point():
        return True
    if tensor.is_cpu and tensor.dtype in (torch.float32, torch.float64):
        return is_array_finite(tensor.detach().numpy())
    return math.isfinite(float(tensor.sum())) or bool(torch.isfinite(tensor).all())


def is_array_finite(array: NDArray[Any]) -> bool:
    """The same of float32 or float64 values.

    Not by torch, which takes long to begin with few, and whose threads would spin on after many, while another
    thread's batch is in an expert.
    """
    # NaN and infinities survive a sum; one that overflowed although all are finite is looked at again.
    if array.size <= _FEW:
        total = np.vdot(array, array)  # which has no warnings: to turn those off takes longer than all of the rest
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.add.reduce(array, axis=None)
    return math.isfinite(total) or bool(np.isfinite(array).all())


class Codec(Protocol):
    """One way. The part named "" has the tensor's shape; others have fixed ones."""

    def compress(self, tensor: torch.Tensor) -> dict[str, torch.Tensor]: ...

    def restore(self, parts: Parts, dtype: torch.dtype) -> torch.Tensor:
        """Return the tensor; MalformedTensors for parts that `compress` does not make."""


class _Narrow:
    """A narrower float of the same tensor."""

    def __init__(self, dtype: torch.dtype, limit: float | None) -> None:
        self._dtype = dtype
        self._limit = limit

    def compress(self, tensor: torch.Tensor) -> dict[str, torch.Tensor]:
        if self._limit is not None:
            tensor = _clamped(tensor, self._limit)
        return {"": tensor.to(self._dtype)}

    def restore(self, parts: Parts, dtype: torch.dtype) -> torch.Tensor:
        _expect(parts, {"": self._dtype})
        return parts[""].to(dtype)


class _Uniform:
    def compress(self, tensor: torch.Tensor) -> dict[str, torch.Tensor]:
        values = _finite(tensor)
        low, high = (bound.item() for bound in values.aminmax())
        step = high / (_LEVELS - 1) - low / (_LEVELS - 1)  # in this order: high - low may overflow
        codes = (values - low).div_(step).round_().clamp_(0, _LEVELS - 1) if step else torch.zeros_like(values)
        return {"": codes.to(torch.uint8), "range": torch.tensor([low, step], dtype=torch.float32)}

    def restore(self, parts: Parts, dtype: torch.dtype) -> torch.Tensor:
        _expect(parts, {"": torch.uint8, "range": torch.float32})
        _expect_table(parts["range"], 2)
        low, step = parts["range"].tolist()
        return parts[""].to(torch.float32).mul_(step).add_(low).to(dtype)


class _Quantile:
    def compress(self, tensor: torch.Tensor) -> dict[str, torch.Tensor]:
        values = _finite(tensor)
        flat = values.view(-1)
        sample = flat[:: max(1, flat.numel() // _SAMPLE)].sort().values
        places = torch.linspace(0, sample.numel() - 1, _LEVELS).round().long()
        levels = sample[places]
        levels[0], levels[-1] = values.aminmax()
        codes = torch.bucketize(values, (levels[1:] + levels[:-1]) / 2, out_int32=True)
        return {"": codes.to(torch.uint8), "levels": levels}

    def restore(self, parts: Parts, dtype: torch.dtype) -> torch.Tensor:
        _expect(parts, {"": torch.uint8, "levels": torch.float32})
        _expect_table(parts["levels"], _LEVELS)
        codes = parts[""]
        return parts["levels"].index_select(0, codes.reshape(-1).int()).view(codes.shape).to(dtype)


class _Blockwise:
    def compress(self, tensor: torch.Tensor) -> dict[str, torch.Tensor]:
        values = _finite(tensor)
        blocks = _blocks(values.view(-1))
        scales = blocks.abs().amax(1) / 127
        steps = torch.where(scales == 0, 1.0, scales)
        codes = (blocks / steps[:, None]).round_().clamp_(-127, 127).to(torch.int8)
        return {"": codes.view(-1)[: values.numel()].view(values.shape), "scales": scales}

    def restore(self, parts: Parts, dtype: torch.dtype) -> torch.Tensor:
        _expect(parts, {"": torch.int8, "scales": torch.float32})
        codes, scales = parts[""], parts["scales"]
        _expect_table(scales, -(-codes.numel() // _BLOCK))
        values = _blocks(codes.reshape(-1).float()).mul_(scales[:, None])
        return values.view(-1)[: codes.numel()].view(codes.shape).to(dtype)


_CODECS: Final[dict[str, Codec]] = {
    "fp16": _Narrow(torch.float16, _MAX_FP16),
    "bf16": _Narrow(torch.bfloat16, None),
    "uniform8": _Uniform(),
    "quantile8": _Quantile(),
    "blockwise8": _Blockwise(),
}
#: the parts besides "" that each makes
EXTRA_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "fp16": (),
    "bf16": (),
    "uniform8": ("range",),
    "quantile8": ("levels",),
    "blockwise8": ("scales",),
}
COMPRESSIONS: Final = ("none", *_CODECS)


def codec(compression: str) -> Codec:
    """Return the codec of a name other than "none"."""
    if compression not in _CODECS:
        raise UsageError(f"no compression {compression!r:.40}; there are {', '.join(COMPRESSIONS)}")
    return _CODECS[compression]


def _finite(tensor: torch.Tensor) -> torch.Tensor:
    values = tensor.detach().to("cpu", torch.float32).contiguous()
    if not is_finite(values):
        raise NotFinite("a tensor with NaN or infinite values cannot be compressed to 8 bits; use none, fp16 or bf16")
    return values


def _clamped(tensor: torch.Tensor, limit: float) -> torch.Tensor:
    """Return finite values within the limit; the others stay what they are, so that whoever refuses them can."""
    low, high = (bound.item() for bound in tensor.aminmax())
    if -limit <= low and high <= limit:  # false if there is a NaN
        return tensor
    return torch.where(tensor.isinf(), tensor, tensor.clamp(-limit, limit))


def _blocks(flat: torch.Tensor) -> torch.Tensor:
    """Return the values in rows of one block, the last filled up with zeros."""
    missing = -flat.numel() % _BLOCK
    return (torch.nn.functional.pad(flat, (0, missing)) if missing else flat).view(-1, _BLOCK)


def _expect(parts: Parts, dtypes: dict[str, torch.dtype]) -> None:
    for name, dtype in dtypes.items():
        if name not in parts or parts[name].dtype != dtype:
            raise MalformedTensors(f"a compressed tensor lacks its part {name!r} of {dtype}")


def _expect_table(table: torch.Tensor, length: int) -> None:
    if tuple(table.shape) != (length,) or not is_finite(table):
        raise MalformedTensors(f"a table of shape {tuple(table.shape)}, or not finite, where {length} values belong")
