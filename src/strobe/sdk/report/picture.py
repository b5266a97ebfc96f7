"""A run as a picture for notebooks: small charts of its most telling metrics, as static SVG.

Colours are of middle brightness and there is no background, so that it reads on light and dark pages, also where a
style sheet cannot reach it (GitHub, nbconvert, mail). It refers to nothing outside itself and holds no script.
"""

from __future__ import annotations

import base64
import math
from html import escape
from typing import TYPE_CHECKING, Any

from strobe.sdk.report.relevance import by_relevance
from strobe.sdk.report.text import end_block, number

if TYPE_CHECKING:
    from strobe.journal.digest import MetricDigest

MAX_CHARTS = 6
_COLUMNS = 3
_WIDTH, _HEIGHT = 240, 120
_LEFT, _TOP, _BOTTOM = 8, 34, 14

# Contrast of at least 3:1 on white and on near-black.
TEXT = "#7a7f87"
LINE = "#3b82d6"
MARK = "#d9822b"
ODD = "#d6455d"
GRID = "#8a8f9633"


def svg(replay: Any) -> str:
    """Return one SVG document with up to six charts."""
    shown = [item for item in by_relevance(replay) if item[1].count][:MAX_CHARTS]
    columns = max(1, min(_COLUMNS, len(shown)))
    rows = max(1, math.ceil(len(shown) / columns))
    width, height = columns * _WIDTH, rows * _HEIGHT + 20
    title = f"{replay.attributes.get('name') or replay.path.id}: {replay.state}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="11" fill="{TEXT}">',
        f"<title>{_plain(title)}</title>",
        f'<text x="{_LEFT}" y="14" font-size="12" font-weight="600">{_plain(_short(title, columns * 34))}</text>',
    ]
    for index, (name, digest) in enumerate(shown):
        x, y = index % columns * _WIDTH, 20 + index // columns * _HEIGHT
        parts.append(f'<g transform="translate({x} {y})">{_chart(name, digest)}</g>')
    if not shown:
        parts.append(f'<text x="{_LEFT}" y="40">no metrics yet</text>')
    return "\n".join([*parts, "</svg>"])


def mimebundle(replay: Any) -> dict[str, str]:
    """Return text, HTML and SVG; HTML shows the SVG as an image, which survives pages that clean up inline SVG."""
    picture = svg(replay)
    text = end_block(replay)
    encoded = base64.b64encode(picture.encode()).decode()
    html = (
        f'<div><img alt="{_plain(text.splitlines()[0])}" src="data:image/svg+xml;base64,{encoded}">'
        f'<details><summary>{_plain(text.splitlines()[0])}</summary><pre style="overflow-x:auto">{_plain(text)}</pre>'
        "</details></div>"
    )
    return {"text/plain": text, "text/html": html, "image/svg+xml": picture}


def _chart(name: str, digest: MetricDigest) -> str:
    inner_width, inner_height = _WIDTH - 2 * _LEFT, _HEIGHT - _TOP - _BOTTOM
    values = [value for value in digest.spark if math.isfinite(value)]
    parts = [
        f"<title>{_plain(name)}</title>",
        f'<text x="{_LEFT}" y="14" font-weight="600">{_plain(_short(name, 34))}</text>',
        f'<text x="{_LEFT}" y="28">{_plain(_caption(digest))}</text>',
        f'<path d="M{_LEFT} {_TOP + inner_height}h{inner_width}" stroke="{GRID}" fill="none"/>',
    ]
    if values:
        low, high = min(values), max(values)
        points = [
            (_LEFT + _across(index, len(values)) * inner_width, _TOP + (1 - _up(value, low, high)) * inner_height)
            for index, value in enumerate(values)
        ]
        if len(points) > 1:
            line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            parts.append(f'<polyline points="{line}" stroke="{LINE}" stroke-width="1.5" fill="none"/>')
        extreme = high if digest.goal == "maximize" else low
        spots = [(points[values.index(extreme)], MARK)] if digest.goal and len(points) > 1 else []
        for (x, y), colour in [*spots, (points[-1], LINE)]:
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>')
    odd = [
        f"{count} {word}"
        for count, word in ((digest.nan, "NaN"), (digest.posinf, "inf"), (digest.neginf, "-inf"))
        if count
    ]
    if odd:
        x, y = _WIDTH - _LEFT, _HEIGHT - 3
        parts.append(f'<text x="{x}" y="{y}" text-anchor="end" fill="{ODD}">{_plain(", ".join(odd))}</text>')
    if digest.last_step is not None:
        parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 3}" font-size="10">to step {digest.last_step}</text>')
    return "".join(parts)


def _caption(digest: MetricDigest) -> str:
    caption = f"last {number(digest.last)}"
    if digest.best is not None:
        caption += f", best {number(digest.best)}" + ("" if digest.best_step is None else f" @ {digest.best_step}")
    return caption


def _across(index: int, count: int) -> float:
    return index / (count - 1) if count > 1 else 0.5


def _up(value: float, low: float, high: float) -> float:
    span = high / 2 - low / 2
    return (value / 2 - low / 2) / span if span > 0 else 0.5


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width // 2 - 1] + "…" + text[len(text) - width // 2 :]


def _plain(text: str) -> str:
    """Escape, and leave out what XML cannot hold."""
    return escape("".join(c if c.isprintable() or c == "\n" else "?" for c in text.encode("utf-8", "replace").decode()))
