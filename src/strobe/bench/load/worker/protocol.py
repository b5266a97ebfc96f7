"""The shape of a tracker's adapter, for type checkers; adapters match it without importing it.

Optional parts (`table`, `image`, `stored`) are looked for by name: a profile lists those it needs in NEEDS. There are
two more: `before_fork` is called inside the timed region before parallel processes start; `arrival`, which online
measurements need, tells how many rows were recorded below the directory and how many of them the server has now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Row = dict[str, Any]


class Run(Protocol):
    """One run that is being recorded."""

    #: the tracker's own log call where its signature allows, so that no wrapper is measured
    @property
    def log(self) -> Callable[[Row], Any]: ...

    def finish(self) -> Any: ...


class Tracker(Protocol):
    """One tracker, recording into one directory."""

    def __init__(self, directory: str, mode: str, features: dict[str, str]) -> None: ...

    def setup(self) -> None:
        """Import the library: what is not timed."""

    def start(self) -> Run:
        """Begin a run."""

    def table(self, columns: Sequence[str], rows: list[list[Any]]) -> Any:
        """Return what is to be logged for a table."""

    def image(self, pixels: bytes, height: int, width: int) -> Any:
        """Return what is to be logged for an RGB image."""

    def stored(self, key: str) -> list[float]:
        """Return the values of `key` that a reader finds now, over all runs of the directory."""
