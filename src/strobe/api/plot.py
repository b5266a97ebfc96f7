"""Runs as one chart: metrics over steps, as `/chart.svg` draws them, without a server.

A long series becomes buckets with the least and greatest value of each, so no spike gets lost and the file stays small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from strobe.api.run import Run
from strobe.drawing import Figure, Line, draw
from strobe.drawing.figure import Odd
from strobe.drawing.stroke import DASHES
from strobe.errors import UsageError

#: more points than this become buckets
MAX_POINTS = 1000

_Points = list[tuple[int, float]]


def plot(runs: Sequence[Run], keys: Sequence[str] | None) -> tuple[str, int]:
    """Return the chart as SVG, and how many points are in it."""
    if not keys:
        raise UsageError("a chart needs metrics: name them with --key, such as `--key loss`")
    lines, count = [], 0
    for number, run in enumerate(runs):
        for place, key in enumerate(keys):
            points = _points(run, key)
            if not points:
                continue
            count += len(points)
            colour, dash = (number, place) if len(runs) > 1 else (place, 0)
            name = run.name if len(runs) > 1 else key
            label = f"{name} · {key}" if len(runs) > 1 and len(keys) > 1 else name
            lines.append(_line(points, label, colour, dash))
    if not lines:
        raise UsageError(f"none of these runs has numbers in {', '.join(keys)}; `strobe show` lists the metrics")
    title = keys[0] if len(keys) == 1 else ", ".join(keys)
    return draw(Figure(lines=lines, title=title, x_label="step")), count


def _points(run: Run, key: str) -> _Points:
    rows = run.scan_history([key])
    return [(row["_step"], float(row[key])) for row in rows if isinstance(row[key], (bool, int, float))]


def _line(points: _Points, label: str, colour: int, dash: int) -> Line:
    look = list(DASHES)[dash % len(DASHES)]
    if len(points) <= MAX_POINTS:
        steps, values = zip(*points, strict=True)
        return Line(x=steps, y=values, label=label, colour=colour, dash=look)
    size = math.ceil(len(points) / MAX_POINTS)
    buckets = [points[first : first + size] for first in range(0, len(points), size)]
    finite = [[value for _, value in bucket if math.isfinite(value)] or [math.nan] for bucket in buckets]
    return Line(
        x=[bucket[0][0] for bucket in buckets],
        y=[sum(values) / len(values) for values in finite],
        low=[min(values) for values in finite],
        high=[max(values) for values in finite],
        odd=[(step, _odd(value)) for step, value in points if not math.isfinite(value)],
        label=label,
        colour=colour,
        dash=look,
    )


def _odd(value: float) -> Odd:
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
