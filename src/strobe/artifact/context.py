"""Which run artifacts belong to by default, as told by the run itself.

Artifacts may be made and saved without naming a run; this holds the one way back from here to it, so that this package
need not know what a run is. Several runs may be open: the latest that has not ended counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from strobe.home import Home, default_home

if TYPE_CHECKING:
    from strobe.artifact.artifact import Artifact


class Context:
    """A run's home, and how that run logs an artifact."""

    def __init__(self, home: Home, log: Callable[[Artifact], object]) -> None:
        self.home = home
        self.log = log


_open: list[Context] = []


def enter(context: Context) -> None:
    """A run has begun."""
    _open.append(context)


def leave(context: Context) -> None:
    """The run is over; leaving twice does no harm."""
    if context in _open:
        _open.remove(context)


def current() -> Context | None:
    """Return the context of the latest run that has not ended."""
    return _open[-1] if _open else None


def current_home() -> Home:
    """Return the home of that run, else the default one."""
    return _open[-1].home if _open else Home(default_home())
