"""Text in an SVG: escaped, and about as wide as a reader's font will make it, since nothing here can measure one."""

from __future__ import annotations

import unicodedata
from html import escape

#: widths of characters in ems, for the common sans-serif fonts; what is not named is a middling letter
_WIDTHS = {
    **dict.fromkeys("iljI.,:;|!'` ", 0.29),
    **dict.fromkeys('frt()[]/\\-"', 0.37),
    **dict.fromkeys("mwMW%@", 0.88),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ_&", 0.67),
}
_MIDDLING = 0.56
#: the widest of those fonts is wider by about this much
_WIDE = 1.12


def width_of(text: str, size: float) -> float:
    """Return about how many pixels a text takes."""
    return _WIDE * size * sum(map(_width, text))


def shorten(text: str, room: float, size: float) -> str:
    """Cut a text in the middle, where names differ least, so that it fits."""
    if width_of(text, size) <= room:
        return text
    kept = max(2, int(len(text) * room / max(1.0, width_of(text, size))) - 1)
    while kept > 2 and width_of(_cut(text, kept), size) > room:
        kept -= 1
    return _cut(text, kept)


def plain(text: str) -> str:
    """Escape a text, and put a question mark for what XML cannot hold or nobody could see."""
    seen = text.encode("utf-8", "replace").decode()
    return escape("".join(char if char.isprintable() else " " if char in "\n\t" else "?" for char in seen))


def _cut(text: str, kept: int) -> str:
    return text[: (kept + 1) // 2] + "…" + text[len(text) - kept // 2 :]


def _width(char: str) -> float:
    found = _WIDTHS.get(char)
    if found is not None:
        return found
    if char.isascii():
        return _MIDDLING
    return 1.0 if unicodedata.east_asian_width(char) in "WF" else 0.62
