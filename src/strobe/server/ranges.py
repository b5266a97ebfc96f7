"""Byte ranges of HTTP (RFC 9110, section 14): which part of a content a request means. Text and numbers only."""

from __future__ import annotations

import re

_ONE = re.compile(r"bytes[ \t]*=[ \t]*(\d*)[ \t]*-[ \t]*(\d*)[ \t]*", re.IGNORECASE | re.ASCII)
#: longer numbers than this are no places in a file
_MAX_DIGITS = 18


class NoSuchRange(ValueError):
    """The range begins after the end."""


def parse_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Return (start, stop) of the one range that a `Range` header asks for, None if all of it is to be sent.

    A header that asks for several ranges, or makes no sense, may be ignored by the standard, and is. NoSuchRange if it
    makes sense but lies outside.
    """
    found = _ONE.fullmatch(header.strip()) if header else None
    if found is None:
        return None
    first, last = found.groups()
    if max(len(first), len(last)) > _MAX_DIGITS or not first + last:
        return None
    if not first:
        length = int(last)
        if not length or not size:
            raise NoSuchRange(f"the last {length} bytes of {size}")
        return max(0, size - length), size
    start = int(first)
    if last and int(last) < start:
        return None
    if start >= size:
        raise NoSuchRange(f"from byte {start} on, of {size}")
    return start, min(size, int(last) + 1) if last else size


def names_etag(header: str, etag: str) -> bool:
    """Tell whether an `If-Range` or `If-Match` header means this strong tag; weak ones mean none."""
    return any(tag.strip() == etag for tag in header.split(","))
