"""Counters, gauges and histograms, and the OpenMetrics text that a collector reads.

Own code because it is small and because the usual library keeps its figures in one place per process: here each
application has its own. Thread-safe; a figure costs a lock and a dictionary.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
Labels = tuple[str, ...]


class Family(Protocol):
    """Figures of one name, told apart by labels."""

    name: str

    def lines(self) -> Iterator[str]:
        """Yield the family as OpenMetrics text."""


class Counter:
    """What only grows."""

    def __init__(self, name: str, help_: str, labels: Sequence[str] = ()) -> None:
        self.name, self._help, self._labels = name, help_, tuple(labels)
        self._lock = threading.Lock()
        self._values: dict[Labels, float] = {} if labels else {(): 0.0}

    def add(self, amount: float = 1.0, *labels: str) -> None:
        with self._lock:
            self._values[labels] = self._values.get(labels, 0.0) + amount

    def value(self, *labels: str) -> float:
        with self._lock:
            return self._values.get(labels, 0.0)

    def lines(self) -> Iterator[str]:
        yield from _head(self.name, "counter", self._help)
        with self._lock:
            values = sorted(self._values.items())
        for labels, value in values:
            yield f"{self.name}_total{_braces(self._labels, labels)} {_number(value)}"


class Gauge:
    """What goes up and down: set, or asked for when somebody looks."""

    def __init__(self, name: str, help_: str) -> None:
        self.name, self._help = name, help_
        self._lock = threading.Lock()
        self._value = 0.0
        self._ask: Callable[[], float] | None = None

    def set(self, value: float) -> None:
        self._value = value

    def add(self, amount: float) -> None:
        with self._lock:
            self._value += amount

    def ask(self, ask: Callable[[], float]) -> None:
        """Call `ask` for the value each time; NaN: not known."""
        self._ask = ask

    def value(self) -> float:
        return self._value if self._ask is None else self._ask()

    def lines(self) -> Iterator[str]:
        value = self.value()
        if not math.isnan(value):
            yield from _head(self.name, "gauge", self._help)
            yield f"{self.name} {_number(value)}"


class Histogram:
    """How often a figure fell below each of some bounds."""

    def __init__(self, name: str, help_: str, bounds: Sequence[float], labels: Sequence[str] = ()) -> None:
        self.name, self._help, self._labels = name, help_, tuple(labels)
        self._bounds = tuple(bounds)
        self._lock = threading.Lock()
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, value: float, *labels: str) -> None:
        place = bisect_left(self._bounds, value)
        with self._lock:
            counts = self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))
            counts[place] += 1
            self._sums[labels] = self._sums.get(labels, 0.0) + value

    def count(self, *labels: str) -> int:
        with self._lock:
            return sum(self._counts.get(labels, ()))

    def lines(self) -> Iterator[str]:
        yield from _head(self.name, "histogram", self._help)
        with self._lock:
            found = sorted((labels, list(counts), self._sums[labels]) for labels, counts in self._counts.items())
        for labels, counts, total in found:
            upto = 0
            for bound, count in zip((*self._bounds, math.inf), counts, strict=True):
                upto += count
                yield f"{self.name}_bucket{_braces((*self._labels, 'le'), (*labels, _bound(bound)))} {upto}"
            yield f"{self.name}_count{_braces(self._labels, labels)} {upto}"
            yield f"{self.name}_sum{_braces(self._labels, labels)} {_number(total)}"


def render(families: Sequence[Family]) -> str:
    """Return the families as one OpenMetrics document."""
    return "".join(f"{line}\n" for family in families for line in family.lines()) + "# EOF\n"


def _head(name: str, kind: str, help_: str) -> Iterator[str]:
    yield f"# TYPE {name} {kind}"
    yield f"# HELP {name} {help_}"


def _braces(names: Labels, values: Labels) -> str:
    if not names:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True)) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _bound(value: float) -> str:
    return "+Inf" if math.isinf(value) else repr(float(value))  # the standard's spelling, so that labels stay equal


def _number(value: float) -> str:
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
