"""The own run as a picture for notebooks, with the end block as its text."""

from __future__ import annotations

from typing import Any

from strobe.api import picture
from strobe.sdk.report.text import end_block


def svg(replay: Any) -> str:
    """Return one SVG document with the run's most telling metrics."""
    title = f"{replay.attributes.get('name') or replay.path.id}: {replay.state}"
    return picture.picture(title, replay.metrics, replay.definition)


def mimebundle(replay: Any, *, url: str | None = None) -> dict[str, str]:
    """Return text, HTML and SVG."""
    drawn, text = svg(replay), end_block(replay, url=url)
    return {"text/plain": text, "text/html": picture.page(drawn, text, url=url), "image/svg+xml": drawn}
