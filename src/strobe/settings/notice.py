"""Warnings about settings: once per cause in a process, pointing at the user's line.

Knows how to warn, not what about.
"""

from __future__ import annotations

import sys
import warnings

from strobe.errors import StrobeWarning

_given: set[str] = set()


def warn_once(cause: str, message: str) -> None:
    """Warn with StrobeWarning unless a warning for `cause` was given before."""
    if cause in _given:
        return
    _given.add(cause)
    warnings.warn(message, StrobeWarning, stacklevel=_depth_of_user_code())


def was_given(cause: str) -> bool:
    """Return whether `cause` was warned about, or marked as looked at."""
    return cause in _given


def mark(cause: str) -> None:
    """Remember that `cause` was looked at and needs no warning."""
    _given.add(cause)


def _depth_of_user_code() -> int:
    """Return the stacklevel (seen from `warn_once`) of the nearest caller outside this package."""
    depth = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "strobe":
        frame = frame.f_back
        depth += 1
    return depth
