"""Turn arrays into 8-bit pixels by one documented rule (docs/data-types.md), for images and videos alike.

| values | become |
|---|---|
| bool | 0 and 255 |
| uint8 | themselves |
| floats all in 0…1 | × 255, rounded |
| floats all in -1…1, some below 0 | (x + 1) / 2 × 255, rounded |
| uint16, some over 255 | the upper 8 bits |
| numbers all in 0…255 | themselves, rounded |
| anything else | stretched: the smallest becomes 0, the largest 255 |

NaN becomes 0; infinities become the ends.
"""

from __future__ import annotations

import math
from typing import Any

from strobe.data.array import numpy


class Pixels:
    """8-bit pixels, top row first: `content` is width × height × channels bytes."""

    __slots__ = ("channels", "content", "height", "width")

    def __init__(self, content: bytes, width: int, height: int, channels: int) -> None:
        self.content = content
        self.width = width
        self.height = height
        self.channels = channels

    @property
    def mode(self) -> str:
        """The name PIL has for this layout."""
        return {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[self.channels]

    @classmethod
    def from_array(cls, array: Any, *, channels_first: bool = False) -> Pixels:
        """Return the pixels of an array of 2 to 4 dimensions; a batch (4) becomes a grid."""
        array = arrange(array, channels_first=channels_first)
        height, width = array.shape[:2]
        channels = array.shape[2] if array.ndim == 3 else 1
        return cls(to_uint8(array).tobytes(), width, height, channels)


def arrange(array: Any, *, channels_first: bool) -> Any:
    """Return `array` as H×W or H×W×C, or raise ValueError saying which shapes can be drawn."""
    shape = array.shape
    if array.ndim == 4:
        if channels_first or not _is_channels(shape[3]):
            array = array.transpose(0, 2, 3, 1)
        array = grid(array)
    elif array.ndim == 3 and _is_channels_first(shape, channels_first):
        array = array.transpose(1, 2, 0)
    if array.ndim not in (2, 3) or (array.ndim == 3 and not _is_channels(array.shape[2])) or not array.size:
        raise ValueError(
            f"an array of shape {tuple(shape)} is not an image;"
            " give (H, W), (H, W, C) or (C, H, W) with 1 to 4 channels, none of them empty"
        )
    return array


def _is_channels(size: int) -> bool:
    return 1 <= size <= 4


def _is_channels_first(shape: tuple[int, ...], preferred: bool) -> bool:
    """Decide for (a, b, c): the order preferred if it is possible, else the other."""
    if preferred:
        return _is_channels(shape[0]) or not _is_channels(shape[2])
    return not _is_channels(shape[2]) and _is_channels(shape[0])


def grid(array: Any) -> Any:
    """Lay the N images of an N×H×W×C array out as one, about as wide as high; missing cells are black."""
    np = numpy("A batch of images")
    count, height, width, channels = array.shape
    if not count:
        raise ValueError("a batch of 0 images cannot be drawn; leave it out when it is empty")
    columns = int(np.ceil(np.sqrt(count)))
    rows = -(-count // columns)
    full = np.zeros((rows * columns, height, width, channels), array.dtype)
    full[:count] = array
    return full.reshape(rows, columns, height, width, channels).swapaxes(1, 2).reshape(rows * height, -1, channels)


def to_uint8(array: Any) -> Any:
    """Return `array` as contiguous uint8 values, by the rule in the module's docstring."""
    np = numpy("An image from an array")
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    if array.dtype == np.bool_:
        return array.astype(np.uint8) * np.uint8(255)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"pixels of type {array.dtype} cannot be drawn; give bool, integer or float values")
    if array.dtype == np.uint16 and array.max() > 255:
        return (array >> 8).astype(np.uint8)
    is_float = array.dtype.kind == "f"
    values = array.astype(np.float32 if array.dtype.itemsize <= 4 and is_float else np.float64)
    low, high, is_finite = _range(np, values)
    if is_float and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    elif is_float and low >= -1 and high <= 1:
        low, high = -1.0, 1.0
    elif low >= 0 and high <= 255:
        low, high = 0.0, 255.0
    if high - low == math.inf:  # the largest floats there are
        values, low, high = values / 2, low / 2, high / 2
    with np.errstate(invalid="ignore", over="ignore"):
        values -= low
        values *= 255 / ((high - low) or 1.0)
        if not is_finite:
            np.nan_to_num(values, copy=False, nan=0.0, posinf=255.0, neginf=0.0)
        values += 0.5
        return values.clip(0, 255, out=values).astype(np.uint8)


def _range(np: Any, values: Any) -> tuple[float, float, bool]:
    """Return the smallest and largest finite value (0 and 0 if there is none), and whether all are finite."""
    low, high = float(values.min()), float(values.max())
    if math.isfinite(low) and math.isfinite(high):
        return low, high, True
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max()), False) if finite.size else (0.0, 0.0, False)
