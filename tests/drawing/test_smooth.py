"""Smoothing: by its definition, constants and gaps kept, and the page's numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from strobe.drawing import smooth

KINDS = ["ema", "gaussian", "window", "median", "min", "max"]
curves = st.lists(
    st.tuples(st.floats(0, 10), st.floats(-1e6, 1e6) | st.sampled_from([math.nan, math.inf, 0.0])),
    min_size=1,
    max_size=40,
).map(lambda rows: (list(accumulate(gap for gap, _ in rows)), [value for _, value in rows]))


def unit_of(x: list[float]) -> float:
    return abs(x[-1] - x[0]) / min(len(x) - 1, 1000) or 1.0 if len(x) > 1 else 1.0


def by_definition(x: list[float], y: list[float], amount: float, kind: str, at: int) -> float:
    """The formulas of the module's head, a sum for each point."""
    unit = unit_of(x)
    apart = [(abs(place - x[at]) / unit, value) for place, value in zip(x, y, strict=True) if math.isfinite(value)]
    half = (1 + amount) / (1 - amount) / 2
    near = [value for distance, value in apart if distance <= half]
    if kind == "ema":
        before = list(zip(x[: at + 1], y[: at + 1], strict=True))
        weights = [(amount ** (abs(x[at] - place) / unit), value) for place, value in before if math.isfinite(value)]
    elif kind == "gaussian":
        sigma = math.sqrt(amount / 3) / (1 - amount)
        weights = [(math.exp(-((distance / sigma) ** 2) / 2), value) for distance, value in apart]
    else:
        pick: dict[str, Callable[[list[float]], float]] = {"window": mean, "median": median, "min": min, "max": max}
        return pick[kind](near)
    total: float = sum(weight * value for weight, value in weights) / sum(weight for weight, _ in weights)
    return total


@pytest.mark.parametrize("kind", KINDS)
@given(curves, st.floats(0.1, 0.95))
@example(([0.0, 5e-324], [0.0, 0.0]), 0.5)
def test_it_is_what_its_definition_says(kind: Any, curve: tuple[list[float], list[float]], amount: float) -> None:
    x, y = curve
    found = smooth(y, x, amount, kind)
    finite = [value for value in y if math.isfinite(value)]
    size = max(map(abs, finite), default=0.0)
    for at, (got, own) in enumerate(zip(found, y, strict=True)):
        if not math.isfinite(own):
            assert math.isnan(got)
            continue
        assert min(finite) <= got <= max(finite)
        half = unit_of(x) * (1 + amount) / (1 - amount) / 2
        if kind in ("window", "median", "min", "max") and any(
            abs(abs(place - x[at]) - half) < 1e-6 * (1 + half) for place in x
        ):
            continue  # whether that point is in the window is a matter of rounding
        wanted = by_definition(x, y, amount, kind, at)
        assert got == pytest.approx(wanted, rel=1e-6, abs=(4e-3 if kind == "gaussian" else 1e-7) * (size + 1e-9))


@pytest.mark.parametrize("kind", KINDS)
@given(st.floats(-1e300, 1e300), st.integers(1, 30), st.floats(0, 0.999), st.booleans())
def test_a_constant_stays_exactly_what_it_is(kind: Any, value: float, size: int, amount: float, is_log: bool) -> None:
    found = smooth([value] * size, None, amount, kind, is_log=is_log)
    assert found == [value] * size if value > 0 or not is_log else all(map(math.isnan, found))


def test_log_space() -> None:
    assert smooth([1.0, 100.0, 0.0], [0, 1, 2], 0.5, "window", is_log=True)[:2] == pytest.approx([10.0, 10.0])
    assert math.isnan(smooth([1.0, 0.0], None, 0.5, is_log=True)[1])


def test_nothing_is_left_alone_but_gaps() -> None:
    assert smooth([1.0, 2.0], None, 0.0) == [1.0, 2.0]
    assert smooth([], None) == []
    assert smooth([1.0, 3.0, 2.0], [2, 0, 1], 0.9)[0] == 1.0  # x that goes back: the way along it


@pytest.mark.parametrize(("amount", "x"), [(1.0, None), (-0.1, None), (math.nan, None), (0.5, [1.0])])
def test_mistakes(amount: float, x: list[float] | None) -> None:
    with pytest.raises(ValueError, match="got"):
        smooth([1.0, 2.0], x, amount)
    with pytest.raises(ValueError, match="got 'mean'"):
        smooth([1.0, 2.0], None, 0.5, "mean")  # type: ignore[arg-type]


def golden() -> Any:
    """What the page's own smooth.ts makes of a curve with uneven steps and a gap, in every kind."""
    return json.loads((Path(__file__).parent / "golden" / "smooth.json").read_text())


@pytest.mark.parametrize(
    "case", golden()["smoothed"], ids=lambda case: f"{case['kind']}-{case['amount']}-{case['log']}"
)
def test_the_page_draws_the_same_line(case: dict[str, Any]) -> None:
    curve = golden()
    y = [math.nan if value is None else value for value in curve["y"]]
    found = smooth(y, curve["x"], case["amount"], case["kind"], is_log=case["log"])
    assert [None if math.isnan(value) else value for value in found] == [
        None if value is None else pytest.approx(value, rel=1e-12) for value in case["values"]
    ]
