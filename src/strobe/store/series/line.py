"""Lines: the attempts of a run that are seen as one curve.

The one idea: attempts are cut into zones of steps; where one attempt alone has points its pyramid answers, and where
several do (rare: a resumed run that logs steps below its resume point) raw points are merged, the later attempt
winning a step. Must not know how pages are read.
"""

from __future__ import annotations

from dataclasses import dataclass

from strobe.store.series.page import EVERYTHING, Window
from strobe.store.series.point import Points


@dataclass(frozen=True, slots=True)
class Part:
    """One attempt's series as far as it counts.

    Points at `before` and above are superseded (None: nothing is); a forked run's parent is bounded the same way.
    `tail` are points not folded yet: ordered (see `Points.ordered`), all above the series' last step.
    """

    series: int
    before: int | None = None
    tail: Points | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """Attempts in order, the later winning where two have the same step, and the window that is asked about."""

    parts: tuple[Part, ...]
    window: Window = EVERYTHING
