"""Ticks: places on an axis that people count in, and what is written at them.

Every function ends after a bounded number of ticks, whatever the range: ends that differ by less than a float can tell
get one tick each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from strobe.drawing.scale import Scale

_MAX_TICKS = 40
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_DURATIONS = (
    1, 2, 5, 10, 15, 30, _MINUTE, 2 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE, _HOUR, 2 * _HOUR,
    3 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY, 30 * _DAY, 90 * _DAY, 365 * _DAY,
)  # fmt: skip
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
#: what a datetime can say, in seconds since the epoch
_TIMES = (-62_135_596_800, 253_402_300_799)


@dataclass(frozen=True, slots=True)
class Tick:
    value: float
    label: str


def ticks_of(scale: Scale, count: int) -> list[Tick]:
    """Return about `count` ticks within a scale of numbers."""
    if scale.kind == "log":
        return _log_ticks(scale, count)
    if scale.kind == "symlog":
        return _symlog_ticks(scale, count)
    step = nice_step(scale.low, scale.high, count)
    values = _multiples(scale.low, scale.high, step)
    return [Tick(value, _label(value, step, max(map(abs, values)))) for value in values]


def duration_ticks(scale: Scale, count: int) -> list[Tick]:
    """Return ticks of an axis in seconds."""
    span = scale.high - scale.low
    if span < 2 or scale.kind == "log":
        return [Tick(tick.value, f"{tick.label}s") for tick in ticks_of(scale, count)]
    step = _time_step(span, count)
    return [Tick(value, _duration(value)) for value in _multiples(scale.low, scale.high, step)]


def time_ticks(scale: Scale, count: int) -> list[Tick]:
    """Return ticks of an axis in seconds since the epoch, in UTC; the day is said where it changes."""
    low, high = max(scale.low, _TIMES[0]), min(scale.high, _TIMES[1])
    if not low < high:
        return []
    step = _time_step(high - low, count) if high - low >= 2 else nice_step(low, high, count)
    ticks, day = [], None
    for value in _multiples(low, high, step):
        moment = _EPOCH + timedelta(seconds=value)
        if step >= _DAY:
            label = f"{moment:%Y-%m-%d}"
        else:
            clock = f"{moment:%H:%M}" if step >= _MINUTE else f"{moment:%H:%M:%S}"
            if step < 1:
                clock += f"{moment.microsecond / 1e6:.{_decimals(step)}f}"[1:]
            label = clock if moment.date() == day else f"{moment:%m-%d} {clock}"
            day = moment.date()
        ticks.append(Tick(value, label))
    return ticks


def nice_step(low: float, high: float, count: int) -> float:
    """Return 1, 2 or 5 times a power of ten that divides the range into about `count` parts."""
    rough = (high / count) - (low / count)
    if not math.isfinite(rough) or rough <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 1e-300 else 0.0
    if not power:
        return rough
    step = next((factor * power for factor in (1, 2, 5) if factor * power >= rough * 0.99), 10 * power)
    return step if math.isfinite(step) else rough


def number(value: float, digits: int = 4) -> str:
    """Return a number for people: 12k, 0.25, 3e-05."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if value == 0:
        return "0"
    size = abs(value)
    for limit, suffix in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if limit <= size < 1e12:
            return f"{value / (1e3 if suffix == 'k' else limit):.{digits}g}{suffix}"
    return f"{value:.{digits}g}"


def _log_ticks(scale: Scale, count: int) -> list[Tick]:
    first, last = math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high))
    every = max(1, math.ceil((last - first) / (count + 2)))
    values = [_power(exponent) for exponent in range(first + (-first) % every, last + 1, every)]
    if sum(_within(scale, value) for value in values) < 3 and every == 1:
        values = sorted(factor * _power(exponent) for exponent in range(first, last + 1) for factor in (1, 2, 5))
    inside = [value for value in values if _within(scale, value)]
    if len(inside) < 2:  # less than a decade: as on a straight axis
        straight = Scale("linear", scale.low, scale.high)
        return [tick for tick in ticks_of(straight, count) if tick.value > 0]
    return [Tick(value, _power_label(value)) for value in inside[:_MAX_TICKS]]


def _symlog_ticks(scale: Scale, count: int) -> list[Tick]:
    largest = max(abs(scale.low), abs(scale.high))
    first, last = math.floor(math.log10(scale.bend)), math.ceil(math.log10(max(largest, scale.bend)))
    powers = [_power(exponent) for exponent in range(last, first - 1, -1)]
    inside = [value for power in [0.0, *powers] for value in (power, -power) if _within(scale, value)]
    if len(set(inside)) < 3:
        return ticks_of(Scale("linear", scale.low, scale.high), count)
    taken: dict[float, float] = {}  # value → place: zero, then the largest, as long as there is room
    for value in inside:
        place = scale.place(value)
        if place is not None and all(abs(place - other) >= 0.7 / count for other in taken.values()):
            taken[value] = place
    return [Tick(value, _power_label(value)) for value in sorted(taken)]


def _multiples(low: float, high: float, step: float) -> list[float]:
    if step > 0 and math.isfinite(low / step) and math.isfinite(high / step):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if 1 <= last - first + 1 <= _MAX_TICKS and max(abs(first), abs(last)) < 2**52:
            return [place * step for place in range(first, last + 1)]
    return [low, high]


def _within(scale: Scale, value: float) -> bool:
    return scale.low <= value <= scale.high and math.isfinite(value)


def _power(exponent: int) -> float:
    return float(f"1e{exponent}")  # exactly the decimal, unlike 10.0 ** exponent; inf and 0 beyond the ends


def _power_label(value: float) -> str:
    return (
        f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e") if _is_far(value) else f"{value:g}"
    )


def _is_far(value: float) -> bool:
    return value != 0 and not 1e-3 <= abs(value) < 1e5


def _label(value: float, step: float, largest: float) -> str:
    """Return what is written at a tick: as many decimals as tell neighbours apart."""
    if value == 0:
        return "0"
    if largest >= 1e12 or largest < 1e-3:
        digits = max(0, math.floor(math.log10(abs(value))) - _exponent(step))
        return f"{value:.{min(digits, 16)}e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    for limit, suffix in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if largest >= limit:
            unit = 1e3 if suffix == "k" else limit
            return f"{value / unit:.{_decimals(step / unit)}f}{suffix}"
    return f"{value:.{_decimals(step)}f}"


def _decimals(step: float) -> int:
    return max(0, min(16, -_exponent(step)))


def _exponent(step: float) -> int:
    return math.floor(math.log10(step) + 1e-9) if step > 0 else -4


def _time_step(span: float, count: int) -> float:
    rough = span / max(1, count)
    found = next((unit for unit in _DURATIONS if unit >= rough), None)
    return float(found) if found is not None else nice_step(0, span / _DAY, count) * _DAY


def _duration(seconds: float) -> str:
    whole, sign = round(abs(seconds)), "-" if seconds < 0 else ""
    days, rest = divmod(whole, _DAY)
    hours, rest = divmod(rest, _HOUR)
    minutes, rest = divmod(rest, _MINUTE)
    parts = [f"{count}{unit}" for count, unit in ((days, "d"), (hours, "h"), (minutes, "m"), (rest, "s")) if count]
    return sign + (" ".join(parts[:2]) or "0")
