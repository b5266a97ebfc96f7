"""Pieces of SQL with their parameters, put together without ever writing a value into the text."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from strobe.store.database import Dialect


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL and its parameters."""

    text: str
    parameters: tuple[Any, ...] = ()

    def __add__(self, other: Sql | str) -> Sql:
        if isinstance(other, str):
            return Sql(self.text + other, self.parameters)
        return Sql(self.text + other.text, self.parameters + other.parameters)


TRUE, FALSE = Sql("1 = 1"), Sql("1 = 0")


def joined(parts: Sequence[Sql], by: str, neutral: Sql, deciding: Sql) -> Sql:
    """Return all parts joined by AND or OR, without those that make no difference."""
    if deciding in parts:
        return deciding
    parts = [part for part in parts if part != neutral]
    if len(parts) < 2:
        return parts[0] if parts else neutral
    text = by.join(f"({part.text})" for part in parts)
    return Sql(f"({text})", tuple(parameter for part in parts for parameter in part.parameters))


def any_of(parts: Sequence[Sql]) -> Sql:
    """Return a condition that is met if one of the parts is."""
    return joined(parts, " OR ", FALSE, TRUE)


def in_list(dialect: Dialect, items: Sequence[Any]) -> Sql:
    """Return ` = one of them`, with one parameter however many there are."""
    if len(items) == 1:
        return Sql(" = ?", (items[0],))
    if dialect.name == "postgres":
        return Sql(" = ANY(?)", (list(items),))
    # JSON has no infinities, but SQLite reads a number that is too large as one.
    text = json.dumps(items, ensure_ascii=False).replace("Infinity", "1e999") if _are_numbers(items) else None
    return Sql(" IN (SELECT value FROM json_each(?))", (text or json.dumps(items, ensure_ascii=False),))


def _are_numbers(items: Sequence[Any]) -> bool:
    return not isinstance(items[0], str)


def double(number: float) -> float:
    """Return the double that is nearest to a number, however large."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
