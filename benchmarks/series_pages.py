"""What series cost: folding points into pages, the bytes that they take, and a chart over more and more points.

Pages are kept in a dictionary, so this is the work of `strobe.store.series` alone; a database adds its own. Points
have steps that rise by one, times 10 ms apart with a noise of nanoseconds, and random float64 values: nothing to gain
by packing them but the steps. Fold: 20 keys, 4,096 points of each at a time, in order. Query: 1,500 pixels over all
points, over the middle tenth, and over as many points as there are pixels.

Prints a table and, as the last line, JSON. Times are medians of `--repeat` runs after one that is not counted; the
bars are ratios and bytes: 20 M points at most 4 × the time of 20 k, at most 20 bytes a point.

    python benchmarks/series_pages.py --points 20_000 200_000 2_000_000 20_000_000
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from strobe.store.series import Directory, Line, Page, PageRange, Part, Points, Window, digest, fold, query
from strobe.store.series.column import Array

_KEYS, _BLOCK, _PIXELS = 20, 4096, 1500
_RANK: Array = np.zeros(1, np.int64)
_START_NS = 1_700_000_000_000_000_000


class Pages:
    """Pages by series and level, each level a list in order: what a database finds by its index, at no cost."""

    def __init__(self) -> None:
        self.levels: dict[int, dict[int, list[Page]]] = {}

    def directory(self, windows: Mapping[int, Window]) -> dict[int, Directory]:
        return {series: self._directory(series, window) for series, window in windows.items() if series in self.levels}

    def _directory(self, series: int, window: Window) -> Directory:
        raw = self.levels[series][0]
        low = bisect_left(raw, window.first_step, key=lambda page: page.last_step)
        high = bisect_right(raw, window.last_step, key=lambda page: page.first_step) - 1
        return Directory(raw[-1].number * _BLOCK + raw[-1].count, raw[0].first_step, raw[-1].last_step, low, high)

    def fetch(self, ranges: Sequence[PageRange]) -> list[Page]:
        found: dict[tuple[int, int, int], Page] = {}
        for wanted in ranges:
            for page in self.levels[wanted.series].get(wanted.level, [])[wanted.first : wanted.last + 1]:
                found[page.series, page.level, page.number] = page
        return list(found.values())

    def put(self, pages: Sequence[Page]) -> None:
        for page in pages:
            self.levels.setdefault(page.series, {}).setdefault(page.level, [])[page.number : page.number + 1] = [page]

    def size_bytes(self) -> int:
        return sum(len(page.body) for levels in self.levels.values() for pages in levels.values() for page in pages)


def make_points(first: int, count: int) -> Points:
    rng = np.random.default_rng(first)
    steps = np.arange(first, first + count)
    noise = rng.integers(-1_000_000, 1_000_000, count)
    return Points.of(steps, rng.random(count), time_ns=_START_NS + steps * 10_000_000 + noise, sequence=steps)


def fold_rate(num_blocks: int) -> tuple[float, float]:
    """Return points folded per second, and bytes per point."""
    pages, took_s = Pages(), 0.0
    for block in range(num_blocks):
        batches = {key: make_points(block * _BLOCK, _BLOCK) for key in range(_KEYS)}
        begun = time.perf_counter()
        fold(pages, batches, _RANK)
        took_s += time.perf_counter() - begun
    num_points = num_blocks * _KEYS * _BLOCK
    return num_points / took_s, pages.size_bytes() / num_points


def fill(count: int) -> Pages:
    pages = Pages()
    for first in range(0, count, 1 << 20):
        fold(pages, {1: make_points(first, min(1 << 20, count - first))}, _RANK)
    return pages


def median_ms(work: Callable[[], object], repeat: int) -> float:
    work()
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        work()
        times.append((time.perf_counter() - begun) * 1e3)
    return statistics.median(times)


def measure(count: int, repeat: int) -> dict[str, float]:
    pages, part = fill(count), (Part(1),)
    windows = {
        "all_ms": Window(),
        "tenth_ms": Window(count * 45 // 100 + 3, count * 55 // 100 + 5),
        "raw_ms": Window(count // 2 + 7, count // 2 + 6 + _PIXELS),
    }
    row: dict[str, float] = {"points": count}
    for name, window in windows.items():
        row[name] = round(median_ms(partial(query, pages, [Line(part, window)], _PIXELS), repeat), 3)
    row["digest_ms"] = round(median_ms(lambda: digest(pages, [Line(part)]), repeat), 3)
    row["bytes_per_point"] = round(pages.size_bytes() / count, 2)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=[20_000, 200_000, 2_000_000, 20_000_000])
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--blocks", type=int, default=32, help="blocks of 20 keys × 4,096 points that are folded")
    arguments = parser.parse_args()
    rates = [fold_rate(arguments.blocks) for _ in range(3)]
    rate, size = statistics.median(rate for rate, _ in rates), rates[0][1]
    print(f"fold: {rate / 1e6:.1f} M points/s, {size:.2f} bytes a point ({_KEYS} keys, {_BLOCK} points at a time)\n")
    rows = [measure(count, arguments.repeat) for count in arguments.points]
    print(" ".join(f"{name:>16}" for name in rows[0]))
    for row in rows:
        print(" ".join(f"{value:>16,}" for value in row.values()))
    print(json.dumps({"fold_points_per_s": round(rate), "fold_bytes_per_point": round(size, 2), "series": rows}))


if __name__ == "__main__":
    main()
