"""Pages of series in the database: what `strobe.store.series` asks of a store, inside of one transaction.

How many points a series has in pages, and where they begin and end, stands in its row, so that a chart of everything
looks at no page that it does not draw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from strobe.store.database import Cursor, in_parts, marks
from strobe.store.series import EVERYTHING, Directory, Page, PageRange, Window
from strobe.store.series.page import POINTS_PER_PAGE

_COLUMNS = "series_id, level, number, first_step, last_step, min_time, max_time, count, body"


class Pages:
    """The page table, as a `series.PageStore`."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        #: series → the first and the last raw page written
        self._written: dict[int, tuple[Page, Page]] = {}

    def directory(self, windows: Mapping[int, Window]) -> dict[int, Directory]:
        found: dict[int, Directory] = {}
        for part in in_parts(list(windows)):
            for series, count, first, last in self._cursor.all(
                "SELECT id, folded_count, folded_first, folded_last FROM series"
                f" WHERE folded_count > 0 AND id IN ({marks(len(part))})",
                *part,
            ):
                found[series] = Directory(count, first, last, 0, (count - 1) // POINTS_PER_PAGE)
        narrow = {series: window for series, window in windows.items() if series in found and window != EVERYTHING}
        for parts in in_parts(list(narrow.items())):
            found.update(self._overlaps(found, dict(parts)))
        return found

    def _overlaps(self, found: Mapping[int, Directory], windows: Mapping[int, Window]) -> dict[int, Directory]:
        rows = [(s, w.first_step, w.last_step, w.first_time, w.last_time) for s, w in windows.items()]
        numbers = {
            series: (low, high)
            for series, low, high in self._cursor.all(
                f"WITH asked (series, first_step, last_step, first_time, last_time) AS ({_values(rows)})"
                " SELECT asked.series, min(page.number), max(page.number) FROM asked CROSS JOIN page"
                " WHERE page.series_id = asked.series AND page.level = 0"
                " AND page.last_step >= asked.first_step AND page.first_step <= asked.last_step"
                " AND page.max_time >= asked.first_time AND page.min_time <= asked.last_time"
                " GROUP BY asked.series",
                *(cell for row in rows for cell in row),
            )
        }
        result = {}
        for series in windows:
            known = found[series]
            low, high = numbers.get(series, (0, -1))
            result[series] = Directory(known.count, known.first_step, known.last_step, low, high)
        return result

    def fetch(self, ranges: Sequence[PageRange]) -> list[Page]:
        found: dict[tuple[int, int, int], Page] = {}
        for part in in_parts(ranges):
            rows = [(r.series, r.level, r.first, r.last) for r in part]
            for found_row in self._cursor.all(
                f"WITH asked (series, lvl, low, high) AS ({_values(rows)}) SELECT {_COLUMNS} FROM asked CROSS JOIN page"
                " WHERE page.series_id = asked.series AND page.level = asked.lvl"
                " AND page.number BETWEEN asked.low AND asked.high",
                *(cell for row in rows for cell in row),
            ):
                page = Page(*found_row)
                found[page.series, page.level, page.number] = page
        return list(found.values())

    def put(self, pages: Sequence[Page]) -> None:
        self._cursor.many(
            f"INSERT INTO page ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (series_id, level, number) DO UPDATE SET first_step = excluded.first_step,"
            " last_step = excluded.last_step, min_time = excluded.min_time, max_time = excluded.max_time,"
            " count = excluded.count, body = excluded.body",
            [
                (p.series, p.level, p.number, p.first_step, p.last_step, p.min_time, p.max_time, p.count, p.body)
                for p in pages
            ],
        )
        for page in pages:
            if page.level == 0:
                low, high = self._written.get(page.series, (page, page))
                self._written[page.series] = (
                    page if page.number <= low.number else low,
                    page if page.number >= high.number else high,
                )

    def note_counts(self) -> None:
        """Bring the rows of the series that were written to up to date; call it when a fold is done."""
        starts = [(low.first_step, series) for series, (low, _) in self._written.items() if low.number == 0]
        self._cursor.many("UPDATE series SET folded_first = ? WHERE id = ?", starts)
        ends = []
        for series, (_, high) in self._written.items():
            count = high.number * POINTS_PER_PAGE + high.count
            ends.append((count, high.last_step, series, count))
        # Pages in the middle that were written anew end before the end: they hold as many points as before.
        self._cursor.many(
            "UPDATE series SET folded_count = ?, folded_last = ? WHERE id = ? AND folded_count <= ?", ends
        )
        self._written.clear()


def _values(rows: Sequence[tuple[int, ...]]) -> str:
    # PostgreSQL takes the type of a column from its first row: without the cast a small number would make it narrow.
    first = ", ".join(["CAST(? AS BIGINT)"] * len(rows[0]))
    others = f", ({marks(len(rows[0]))})" * (len(rows) - 1)
    return f"VALUES ({first}){others}"
