"""The dtypes that travel, by their codes in the header, and torch tensors as memory without a copy."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

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
#: what numpy calls them; it does not know BF16, whose bytes it can hold all the same
_NUMPY: Final[dict[str, type[np.generic]]] = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "BF16": np.int16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U8": np.uint8,
    "BOOL": np.bool_,
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


def array_at(content: memoryview, code: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array over this memory, which it keeps alive; read-only or misplaced memory is copied first."""
    if not content:
        return np.empty(shape, _NUMPY[code])
    # frombuffer holds the memory as others do (the buffer cannot be resized, so nobody takes it for free); an ndarray
    # that is made over it directly only knows where it is.
    array: NDArray[Any] = np.frombuffer(bytearray(content) if content.readonly else content, _NUMPY[code])
    array = array.reshape(shape)
    return array if array.flags.aligned else array.copy()  # some processors do not read such items at all


def tensor_of(array: NDArray[Any], code: str) -> torch.Tensor:
    """Return an array of `array_at` as a tensor over the same memory."""
    tensor = torch.from_numpy(array)
    return tensor.view(torch.bfloat16) if code == "BF16" else tensor
