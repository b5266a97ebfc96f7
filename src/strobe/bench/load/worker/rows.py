"""What is logged: rows of full-precision floats, as losses are, and tables of mixed columns."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any


def row_builder(num_keys: int) -> Callable[[int], dict[str, float]]:
    """Return a function that builds the row of call number i: keys f_0, f_1, …, new values each time."""
    rng = random.Random(num_keys)
    pairs = [(f"f_{number}", rng.random()) for number in range(num_keys)]

    def build(call: int) -> dict[str, float]:
        scale = call + 0.1
        return {key: factor * scale for key, factor in pairs}

    return build


def table_rows(num_rows: int, seed: int) -> list[list[Any]]:
    """Return rows of ten cells: four ints, four floats, two strings."""
    rng = random.Random(seed)
    return [
        [
            number,
            rng.randrange(1000),
            rng.randrange(10),
            number % 7,
            rng.random(),
            rng.random() * 100,
            rng.gauss(0.0, 1.0),
            number * 0.5,
            f"sample-{number}",
            "cat" if number % 2 else "dog",
        ]
        for number in range(num_rows)
    ]


TABLE_COLUMNS = ("id", "bucket", "digit", "weekday", "p", "score", "z", "half", "name", "label")
