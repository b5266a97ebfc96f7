"""Recognise and draw matplotlib figures without importing matplotlib: whoever holds a figure has it loaded."""

from __future__ import annotations

import io
import sys
from types import ModuleType
from typing import Any


def is_matplotlib(value: object) -> bool:
    """Tell whether `value` is a figure, something drawn in one, or the pyplot module itself."""
    if isinstance(value, ModuleType):
        return value.__name__ in ("matplotlib.pyplot", "matplotlib.pylab", "pylab")
    artist: Any = sys.modules.get("matplotlib.artist")
    return artist is not None and isinstance(value, artist.Artist)


def to_figure(value: Any) -> Any:
    """Return the figure that `value` is, stands in, or (for pyplot) has as its current one."""
    if isinstance(value, ModuleType):
        return value.gcf()
    figure = value if hasattr(value, "savefig") else value.get_figure()
    if figure is None:
        raise ValueError(f"this {type(value).__name__} is not part of a figure; add it to one, or give the figure")
    return figure


def draw(value: Any, file_type: str = "png") -> bytes:
    """Return the figure as the bytes of an image file, with the resolution and size set in it."""
    target = io.BytesIO()
    to_figure(value).savefig(target, format=file_type)
    return target.getvalue()
