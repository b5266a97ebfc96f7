"""A run as a picture for notebooks: small charts of its most telling metrics, as static SVG in HTML.

It refers to nothing outside itself and holds no script, so that it survives GitHub, nbconvert, mail and being offline.
Made of digests alone: a run of a million rows costs as much as one of a hundred.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from strobe.drawing import Cell, Grid, draw_grid
from strobe.drawing.text import plain
from strobe.journal.relevance import by_relevance
from strobe.terminal import number

if TYPE_CHECKING:
    from strobe.journal.digest import MetricDigest
    from strobe.journal.event import Metric

MAX_CHARTS = 6


def picture(
    title: str, metrics: Mapping[str, MetricDigest], definition: Callable[[str], Metric | None] = lambda name: None
) -> str:
    """Return one SVG document with up to six charts, and how many more metrics there are."""
    found = [item for item in by_relevance(metrics, definition) if item[1].count]
    more = len(found) - MAX_CHARTS
    whole = f"{title}, {more:,} more metric{'' if more == 1 else 's'}" if more > 0 else title
    return draw_grid(Grid(title=whole, cells=[_cell(name, digest) for name, digest in found[:MAX_CHARTS]]))


def page(svg: str, text: str, *, url: str | None = None) -> str:
    """Return HTML: the picture as an image, which survives pages that clean up inline SVG, and the text below it."""
    encoded, headline = base64.b64encode(svg.encode()).decode(), plain(text.partition("\n")[0])
    image = f'<img alt="{headline}" src="data:image/svg+xml;base64,{encoded}">'
    if url is not None and urlsplit(url).scheme in ("http", "https"):
        image = f'<a href="{plain(url)}" target="_blank" rel="noopener">{image}</a>'
    lines = "\n".join(map(plain, text.splitlines()))
    if "\n" not in lines:
        return f"<div>{image}<div><small>{headline}</small></div></div>"
    return (
        f'<div>{image}<details><summary>{headline}</summary><pre style="overflow-x:auto">{lines}</pre></details></div>'
    )


def _cell(name: str, digest: MetricDigest) -> Cell:
    caption = f"last {number(digest.last)}"
    if digest.best is not None:
        caption += f", best {number(digest.best)}" + ("" if digest.best_step is None else f" @ {digest.best_step:,}")
    values = [value for value in digest.spark if math.isfinite(value)]
    counts = ((digest.nan, "NaN"), (digest.posinf, "inf"), (digest.neginf, "-inf"))
    best = None
    if values and digest.goal:
        best = values.index(max(values) if digest.goal == "maximize" else min(values))
    return Cell(
        title=name,
        caption=caption,
        values=values,
        first="" if digest.first_step is None else f"step {digest.first_step:,}",
        last="" if digest.last_step is None else f"{digest.last_step:,}",
        best=best,
        alarm=", ".join(f"{count:,} {word}" for count, word in counts if count),
    )
