"""Student's t against the printed tables, and against simulation."""

from __future__ import annotations

import math
import random

import pytest

from strobe.bench import student

TABLE = [(12.706, 1, 0.05), (4.303, 2, 0.05), (2.776, 4, 0.05), (2.262, 9, 0.05), (3.169, 10, 0.01)]


@pytest.mark.parametrize(("t", "freedom", "p"), TABLE)
def test_the_values_of_the_tables(t: float, freedom: int, p: float) -> None:
    assert student.two_sided_p(t, freedom) == pytest.approx(p, rel=2e-3)
    assert student.quantile(1 - p, freedom) == pytest.approx(t, rel=2e-3)


def test_nothing_is_certain() -> None:
    assert student.two_sided_p(0, 5) == 1
    assert student.two_sided_p(math.inf, 5) == pytest.approx(0, abs=1e-12)


def test_samples_without_any_spread() -> None:
    assert student.mean_of([1.0, 1.0]).p == 0.0
    assert student.difference([1.0, 1.0], [1.0, 1.0]).p == 1.0
    assert student.difference([1.0, 1.0], [2.0, 2.0]).bounds(0.95) == (1.0, 1.0)


def test_one_sample_has_no_spread() -> None:
    with pytest.raises(ValueError, match="a spread needs two samples, there is 1"):
        student.mean_of([1.0])


def test_the_freedom_of_two_sides_lies_between_the_smaller_and_the_sum() -> None:
    rng = random.Random(1)
    for _ in range(200):
        a = [rng.gauss(0, rng.choice([1e-9, 1.0])) for _ in range(3)]
        b = [rng.gauss(0, 1) for _ in range(6)]
        assert 2 <= student.difference(a, b).freedom <= 7
