"""The dtypes that travel, by their codes in the header, and torch tensors as memory without a copy."""

from __future__ import annotations

from typing import Final

import torch

from strobe.errors import UsageError

_TORCH: Final[dict[str, torch.dtype]] = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
_CODES: Final = {dtype: code for code, dtype in _TORCH.items()}


def code_of(dtype: torch.dtype) -> str:
    """Return the code of a dtype; UsageError for one that does not travel."""
    code = _CODES.get(dtype)
    if code is None:
        raise UsageError(f"tensors of {dtype} do not travel; convert to one of {', '.join(map(str, _CODES))}")
    return code


def dtype_of(code: str) -> torch.dtype:
    return _TORCH[code]


def memory_of(tensor: torch.Tensor) -> memoryview:
    """Return the bytes of a tensor, in place if it is contiguous and in main memory, else copied to be so."""
    if not tensor.numel():
        return memoryview(b"")
    if not tensor.is_cpu or not tensor.is_contiguous():
        tensor = tensor.to("cpu").contiguous()
    if tensor.requires_grad:
        tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:  # which numpy does not know
        tensor = tensor.view(torch.int16)
    return memoryview(tensor.numpy()).cast("B")


def tensor_at(content: memoryview, code: str, shape: tuple[int, ...]) -> torch.Tensor:
    """Return a tensor over this memory, which it keeps alive; read-only or misplaced memory is copied first."""
    dtype = _TORCH[code]
    if not len(content):
        return torch.empty(shape, dtype=dtype)
    if content.readonly:
        content = memoryview(bytearray(content))
    flat = torch.frombuffer(content, dtype=dtype)
    if flat.data_ptr() % dtype.itemsize:  # some processors do not read such items at all
        flat = torch.frombuffer(bytearray(content), dtype=dtype)
    return flat.view(shape)
