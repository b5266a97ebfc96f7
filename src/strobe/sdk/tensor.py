"""Arrays of numpy, torch and JAX in the form that a row stores: a number, or dtype, shape and bytes.

Works on values that are there; those still being computed are found before (sdk/pending.py).
"""

from __future__ import annotations

import sys
from typing import Any

from strobe.journal.value import Array


def is_array(value: Any) -> bool:
    """Tell whether `value` is an array of any library."""
    if getattr(value, "is_nested", False):
        return True  # although it may refuse to tell its shape
    return (
        hasattr(value, "shape") and hasattr(value, "dtype") and (hasattr(value, "__array__") or hasattr(value, "numpy"))
    )


def plain_array(value: Any, key: str) -> Any:
    """Return the storable form of an array. Raises TypeError or RuntimeError for one that holds no numbers."""
    import numpy as np

    array = to_numpy(value)
    if array.size == 1:
        if array.dtype.kind in "mM":
            return _plain_moment(array.reshape(()))
        number = array.reshape(()).item()
        if isinstance(number, complex):
            return {"real": number.real, "imag": number.imag}
        return number if isinstance(number, (float, int, str, bytes)) else float(number)
    if array.dtype.kind in "OV":
        return [_plain_element(item, key) for item in array.tolist()]
    if array.dtype.kind in "US":
        return array.tolist()
    array = np.ascontiguousarray(array)
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and sys.byteorder == "big"):
        array = array.astype(array.dtype.newbyteorder("<"))
    return Array(array.dtype.str, tuple(array.shape), array.tobytes())


def _plain_moment(moment: Any) -> Any:
    import numpy as np

    if np.isnat(moment):
        return None
    if moment.dtype.kind == "M":
        return str(np.datetime_as_string(moment))
    return moment.astype("m8[us]").item()


def local_part(tensor: Any) -> Any:
    """Return this rank's part of a distributed tensor (DTensor), if that is all of it.

    Reading the whole is a collective: called by the rank that logs and by no other, it would wait for ever.
    """
    if not all(placement.is_replicate() for placement in tensor.placements):
        raise TypeError("it is spread over several ranks; let all of them call tensor.full_tensor() and log that")
    return tensor.to_local()


def to_numpy(value: Any) -> Any:
    """Return `value` as a numpy array of a dtype that numpy itself has."""
    import numpy as np

    if not hasattr(value, "detach"):
        return _with_own_dtype(np.asarray(value))
    if getattr(value, "is_nested", False):
        raise TypeError("a nested tensor is no array; log its parts, tensor.unbind()")
    if getattr(value, "is_quantized", False):
        value = value.dequantize()
    tensor = value.detach().cpu().resolve_conj().resolve_neg()
    try:
        return tensor.numpy()
    except TypeError:
        if not tensor.is_floating_point():
            raise
        return tensor.float().numpy()  # bfloat16 and the like, which numpy does not have


def _with_own_dtype(array: Any) -> Any:
    """Widen the small types that JAX adds to numpy (bfloat16, float8, int4), which readers need not have."""
    import numpy as np

    if array.dtype.type.__module__ != "ml_dtypes":
        return array
    return array.astype(np.int8 if "int" in array.dtype.name else np.float32)


def _plain_element(item: Any, key: str) -> Any:
    if item is None or isinstance(item, (bool, int, float, str, bytes)):
        return item
    if isinstance(item, (list, tuple)):
        return [_plain_element(inner, key) for inner in item]
    kind = type(item)
    raise TypeError(f"log(): {key!r} is an array of {kind.__module__}.{kind.__qualname__}, which cannot be stored")
