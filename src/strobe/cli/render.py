"""How values become text: numbers, sizes, times, JSON, CSV; tables are laid out in `grid`.

Pure functions over values, except `Screen`, the one place that asks what the terminal can do. Knows no runs.
"""

from __future__ import annotations

import csv
import json
import math
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TextIO

from strobe.api.jsonable import jsonable
from strobe.cli.grid import lay_out
from strobe.terminal import Terminal

_MAX_FACT = 80
STATE_STYLES = {
    "running": "cyan",
    "finished": "green",
    "failed": "red",
    "crashed": "red",
    "killed": "yellow",
    "preempted": "yellow",
    "ok": "green",
    "warn": "yellow",
    "fail": "red",
    "faster": "green",
    "slower": "red",
    "incorrect": "red",
    "inconclusive": "yellow",
}


class Screen:
    """stdout for data, stderr for talk; knows width, colour and quiet."""

    def __init__(self, args: Namespace | None = None, *, environ: Mapping[str, str] | None = None) -> None:
        self._terminal = Terminal(sys.stdout, environ=environ)
        self.quiet = bool(getattr(args, "quiet", False))
        self.verbose = bool(getattr(args, "verbose", False))
        has_width = self._terminal.is_tty or "COLUMNS" in (os.environ if environ is None else environ)
        #: how many columns there are; None for a file or pipe, which gets everything, uncut
        self.width = self._terminal.width if has_width else None

    def out(self, text: str = "") -> None:
        print(text)

    def json(self, value: Any) -> None:
        print(json.dumps(jsonable(value), indent=2, ensure_ascii=False, allow_nan=False))

    def note(self, text: str) -> None:
        if not self.quiet:
            self._say(text)

    def warn(self, text: str) -> None:
        self._say(f"strobe: {text}")

    def _say(self, text: str) -> None:
        # Whoever listened may have gone (a closed terminal, `2>&1 | head`); what the command does is not for the talk.
        with suppress(OSError):
            print(text, file=sys.stderr)

    def style(self, text: str, style: str | None) -> str:
        return text if style is None else self._terminal.style(text, style)

    def table(
        self, header: Sequence[str], rows: Sequence[Sequence[str]], *, instead: str = "--json", **options: Any
    ) -> None:
        """Print a table; `options` are those of `grid.lay_out`, `instead` what shows the columns that had no room."""
        grid = lay_out(header, rows, width=self.width, **options)
        for line in grid.head:
            self.out(self.style(line, "dim"))
        for line in grid.body:
            self.out(self.paint_states(line))
        if grid.left_out:
            self.note(f"no room for {', '.join(grid.left_out)}: a wider terminal or {instead} shows them")

    def paint_states(self, line: str) -> str:
        """Colour the first word of the line that names a state."""
        if self._terminal.has_colour:
            for word in line.split():
                if word in STATE_STYLES:
                    return line.replace(word, self.style(word, STATE_STYLES[word]), 1)
        return line


# --- values


def value_text(value: Any) -> str:
    """Return a value as a cell shows it: numbers short, text bare, the rest as JSON."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, (int, str)):
        return str(value)
    if isinstance(value, Mapping) and "_type" in value:
        return record_text(value)
    return json.dumps(jsonable(value), ensure_ascii=False)


def record_text(record: Mapping[str, Any]) -> str:
    """Return a media record by its kind and its short facts, without the content it may carry."""
    facts = [f"{key}={value_text(item)}" for key, item in record.items() if _is_fact(key, item)]
    return " ".join([f"<{record['_type']}>", *facts])


def _is_fact(key: str, item: Any) -> bool:
    return not key.startswith("_") and isinstance(item, (str, int, float)) and len(str(item)) <= _MAX_FACT


def number_text(value: float) -> str:
    """Return a float in at most five significant digits; NaN and the infinities by name."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{value:.5g}"


def size_text(size_bytes: float) -> str:
    """Return a number of bytes as people say it: 512 B, 1.5 kB, 20 MB."""
    if abs(size_bytes) < 1000:
        return f"{size_bytes:.0f} B"
    for unit in ("kB", "MB", "GB", "TB"):
        size_bytes /= 1000
        if abs(size_bytes) < 999.5:
            return f"{size_bytes:.3g} {unit}"
    return f"{size_bytes / 1000:.3g} PB"


def duration_text(seconds: float | None) -> str:
    """Return a duration in its two largest units: 0.4s, 12s, 3m 05s, 2h 10m, 4d 3h."""
    if seconds is None:
        return ""
    if seconds < 10:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}d {hours}h"
    if hours:
        return f"{hours}h {minutes:02d}m"
    return f"{minutes}m {rest:02d}s" if minutes else f"{rest}s"


def time_text(time_ns: int | None) -> str:
    """Return a moment in local time, to the second."""
    if time_ns is None:
        return ""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time_ns / 1e9))


def write_csv(header: Sequence[str], rows: Iterable[Sequence[Any]], stream: TextIO | None = None) -> None:
    """Write rows as CSV with the header that `--csv` promises."""
    writer = csv.writer(sys.stdout if stream is None else stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
