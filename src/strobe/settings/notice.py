"""Warnings about settings: once per cause in a process, pointing at the user's line.

Knows how to warn, not what about.
"""

from __future__ import annotations

import sys
import warnings

from strobe.errors import StrobeWarning

_given: set[str] = set()
#: (cause, message) of what waits until it is known whether anybody wants to hear it
_held: list[tuple[str, str]] | None = None


def warn_once(cause: str, message: str) -> None:
    """Warn with StrobeWarning unless a warning for `cause` was given before."""
    if cause in _given:
        return
    _given.add(cause)
    if _held is not None:
        _held.append((cause, message))
    else:
        warnings.warn(message, StrobeWarning, stacklevel=_depth_of_user_code())


def hold() -> None:
    """Keep warnings back until `release`: whether to be silent is itself a setting."""
    global _held
    _held = []


def release(*, silent: bool = False) -> None:
    """Give the warnings kept back, or, if silent, forget them: they may be given another time."""
    global _held
    held, _held = _held or [], None
    for cause, message in held:
        if silent:
            _given.discard(cause)
        else:
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
