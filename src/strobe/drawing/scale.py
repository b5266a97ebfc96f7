"""Where a value lies between the ends of an axis: linear, logarithmic, or logarithmic on both sides of zero.

Values up to the largest float are fine: differences are formed of halves. A value that the scale cannot show (zero on a
logarithmic one) is at None.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

ScaleKind = Literal["linear", "log", "symlog"]
_PADDING = 0.04
_TINY = 5e-324


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from `low` to `high`; `bend` is where a symlog one turns from a line into a logarithm."""

    kind: ScaleKind
    low: float
    high: float
    bend: float = 1.0

    def place(self, value: float) -> float | None:
        """Return 0 for `low`, 1 for `high`; None for what has no place."""
        return self.places((value,))[0]

    def places(self, values: Iterable[float]) -> list[float | None]:
        """Return where each value lies."""
        low, high = self.forward(self.low) / 2, self.forward(self.high) / 2
        span = high - low
        if not span > 0:
            return [0.5 if self.shows(value) else None for value in values]
        if self.kind == "linear":  # most of the work of a chart is here
            return [(value / 2 - low) / span if value - value == 0 else None for value in values]
        return [(self.forward(value) / 2 - low) / span if self.shows(value) else None for value in values]

    def shows(self, value: float) -> bool:
        """Tell whether a value has a place."""
        return math.isfinite(value) and (self.kind != "log" or value > 0)

    def forward(self, value: float) -> float:
        """Return the value on the straight axis under the scale."""
        if self.kind == "log":
            return math.log10(value)
        if self.kind == "symlog":
            ratio = value / self.bend
            if math.isinf(ratio):  # asinh(r) is log(2r) by then
                return math.copysign(math.log(abs(value)) - math.log(self.bend) + math.log(2), value)
            return math.asinh(ratio)
        return value


def fit_scale(kind: ScaleKind, values: Iterable[float], *, is_padded: bool) -> Scale:
    """Return the scale that shows all finite values (on a logarithmic one, all above zero)."""
    found = [value for value in values if math.isfinite(value) and (kind != "log" or value > 0)]
    if not found:
        return Scale(kind, 1.0, 10.0) if kind == "log" else Scale(kind, 0.0, 1.0)
    low, high = float(min(found)), float(max(found))
    if kind == "log":
        return _fit_log(low, high, is_padded)
    if kind == "symlog":
        return _fit_symlog(low, high, [abs(value) for value in found if value])
    if low == high:
        reach = abs(low) * 0.05 or 1.0
        return Scale(kind, _bounded(low - reach), _bounded(high + reach))
    reach = (high / 2 - low / 2) * 2 * _PADDING if is_padded and high / 2 - low / 2 < 8e307 else 0.0
    return Scale(kind, _bounded(low - reach), _bounded(high + reach))


def _fit_log(low: float, high: float, is_padded: bool) -> Scale:
    factor = 10 ** ((math.log10(high) - math.log10(low)) * _PADDING) if is_padded else 1.0
    if low == high:
        factor = 2.0
    return Scale("log", max(low / factor, _TINY), _bounded(high * factor))


def _fit_symlog(low: float, high: float, sizes: list[float]) -> Scale:
    bend = _bend(sizes)
    if low == high:
        low, high = min(low, 0.0), max(high, 0.0)
        if low == high:
            low, high = -1.0, 1.0
    scale = Scale("symlog", low, high, bend)
    reach = (scale.forward(high) - scale.forward(low)) * _PADDING
    return Scale("symlog", _backward(scale, low, -reach), _backward(scale, high, reach), bend)


def _bend(sizes: list[float]) -> float:
    """Return the power of ten at or below all but the smallest twentieth, as the page has it."""
    if not sizes:
        return 1.0
    small = sorted(sizes)[(len(sizes) - 1) // 20]
    return max(float(f"1e{math.floor(math.log10(small) + 1e-9)}"), 1e-300)


def _backward(scale: Scale, value: float, shift: float) -> float:
    moved = scale.forward(value) + shift
    return _bounded(scale.bend * math.sinh(moved)) if abs(moved) < 700 else value


def _bounded(value: float) -> float:
    return max(-sys.float_info.max, min(sys.float_info.max, value))
