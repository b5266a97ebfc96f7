"""A page store in a dictionary: what a database does, without one, and a look at what was asked of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from strobe.store.series import Directory, Page, PageRange, Window


class MemoryPages:
    """Pages by (series, level, number). `calls` and `read` count what a query costs."""

    def __init__(self) -> None:
        self.pages: dict[int, dict[tuple[int, int], Page]] = {}
        self.calls = 0
        self.largest_call = 0
        self.read: list[Page] = []
        self.written: list[Page] = []

    def directory(self, windows: Mapping[int, Window]) -> dict[int, Directory]:
        self.calls += 1
        return {series: self._directory(series, window) for series, window in windows.items() if series in self.pages}

    def _directory(self, series: int, window: Window) -> Directory:
        raw = sorted((p for (level, _), p in self.pages[series].items() if level == 0), key=lambda page: page.number)
        inside = [
            page.number
            for page in raw
            if page.first_step <= window.last_step
            and page.last_step >= window.first_step
            and page.min_time <= window.last_time
            and page.max_time >= window.first_time
        ]
        low, high = (inside[0], inside[-1]) if inside else (0, -1)
        return Directory(sum(page.count for page in raw), raw[0].first_step, raw[-1].last_step, low, high)

    def fetch(self, ranges: Sequence[PageRange]) -> list[Page]:
        self.calls += 1
        keys = {(r.series, r.level, n): None for r in ranges for n in range(r.first, r.last + 1)}
        found = [p for series, level, n in keys if (p := self.pages.get(series, {}).get((level, n))) is not None]
        self.read += found
        self.largest_call = max(self.largest_call, len(found))
        return found

    def put(self, pages: Sequence[Page]) -> None:
        self.calls += 1
        for page in pages:
            self.pages.setdefault(page.series, {})[page.level, page.number] = page
        self.written += pages
        self.largest_call = max(self.largest_call, len(pages))
