"""Colours, light and dark, and how a drawing carries both.

Colours stand in attributes, which every program that shows SVG understands, also where style sheets are taken out; a
chart that follows the reader's system adds a style sheet which replaces them in the dark. The palette is told apart
with every common kind of colour blindness, has a contrast of 3:1 on its background, and comes again with other dashes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from strobe.drawing.figure import Theme

#: after Okabe and Ito, made darker or lighter until it has its contrast
_LIGHT = ("#0072b2", "#c44e00", "#00805b", "#a3478a", "#8a6a00", "#2b7fc4", "#5b5b5b", "#7c4dd0")
_DARK = ("#56a8e8", "#f08a3c", "#2fc79a", "#dd8fc4", "#e0c341", "#8fd0f5", "#b8b8b8", "#b39bf5")
PALETTE_SIZE = len(_LIGHT)

#: part → (attribute, light, dark)
_PARTS: Mapping[str, tuple[str, str, str]] = {
    "ground": ("fill", "#ffffff", "#14171c"),
    "ink": ("fill", "#1d2129", "#e8eaee"),
    "soft": ("fill", "#596070", "#a4abb8"),
    "grid": ("stroke", "#e4e7ec", "#2b303a"),
    "axis": ("stroke", "#8b93a3", "#6d7585"),
    "odd": ("fill", "#c2273d", "#ff7b8a"),
    **{f"line{number}": ("stroke", _LIGHT[number], _DARK[number]) for number in range(PALETTE_SIZE)},
    **{f"dot{number}": ("fill", _LIGHT[number], _DARK[number]) for number in range(PALETTE_SIZE)},
}


@dataclass(frozen=True, slots=True)
class Paint:
    """Says how a part is coloured, as attributes of an element."""

    theme: Theme
    #: in front of class names: a page may hold several drawings, and its own classes
    prefix: str = "strobe-"

    def of(self, part: str) -> str:
        attribute, light, dark = _PARTS[part]
        colour = dark if self.theme == "dark" else light
        name = f'class="{self.prefix}{part}" ' if self.theme == "auto" else ""
        return f'{name}{attribute}="{colour}"'

    def line(self, number: int) -> str:
        return self.of(f"line{number % PALETTE_SIZE}")

    def dot(self, number: int) -> str:
        return self.of(f"dot{number % PALETTE_SIZE}")

    def style(self) -> str:
        """Return the style sheet of a drawing that follows the reader's system; none for the others."""
        if self.theme != "auto":
            return ""
        rules = "".join(f".{self.prefix}{part}{{{attribute}:{dark}}}" for part, (attribute, _, dark) in _PARTS.items())
        return f"<style>@media (prefers-color-scheme:dark){{{rules}}}</style>"
