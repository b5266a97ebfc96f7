"""Get a numpy array out of whatever array a user holds, without importing the library it came from.

numpy itself is imported here and only here, when the first array arrives; without it the message says what to install.
"""

from __future__ import annotations

import sys
from typing import Any

from strobe.errors import MissingExtra


def numpy(purpose: str) -> Any:
    """Return the numpy module, or raise MissingExtra saying that `purpose` needs it."""
    try:
        import numpy as np
    except ImportError as exc:
        raise MissingExtra(f"{purpose} needs numpy; run: pip install 'strobe[media]'") from exc
    return np


def library(value: object) -> str:
    """Return the name of the package that `value`'s type comes from, such as "torch"."""
    return type(value).__module__.partition(".")[0]


def is_array(value: object) -> bool:
    """Tell whether `value` is an array or tensor of some library (a list is not)."""
    return hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "ndim")


def is_tensor(value: object) -> bool:
    """Tell whether `value` is a torch tensor, whose images have their channels first."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def to_numpy(value: Any, purpose: str) -> Any:
    """Return `value` as a numpy array; waits for a device if the value lies on one. May share memory with it."""
    np = numpy(purpose)
    if isinstance(value, np.ndarray):
        return value
    if is_tensor(value):
        tensor = value.detach()
        if tensor.is_sparse:
            tensor = tensor.to_dense()
        if str(tensor.dtype).startswith(("torch.bfloat16", "torch.float8")):
            tensor = tensor.float()  # numpy has no such type
        return tensor.cpu().resolve_conj().resolve_neg().numpy()
    if callable(getattr(value, "numpy", None)):
        return np.asarray(value.numpy())
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array
