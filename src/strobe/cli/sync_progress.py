"""The line that `strobe sync` shows while it works: runs, bytes, rate, and about how long it will take.

Rate and time come from the last seconds, because a watch of hours has no average worth knowing.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import msgspec

from strobe.cli.render import duration_text, size_text

_WINDOW_S = 15.0


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How an upload of several runs stands at a moment."""

    num_runs: int
    num_done: int
    #: compressed, as it went out
    sent_bytes: int
    #: as it lies on this disk
    left_bytes: int
    num_files_left: int
    problem: str = ""


class _Look(NamedTuple):
    at: float
    standing: Standing


class Progress:
    """Follows an upload; `note` as often as you like, `line` when somebody looks. The clock is the caller's."""

    def __init__(self) -> None:
        self._looks: deque[_Look] = deque()

    def note(self, standing: Standing, now: float) -> None:
        self._looks.append(_Look(now, standing))
        while self._looks[0].at < now - _WINDOW_S:
            self._looks.popleft()

    def line(self) -> str:
        """Return how it stands as of the last `note`."""
        (began, first), (now, last) = self._looks[0], self._looks[-1]
        elapsed_s = max(now - began, 0.1)
        rate = (last.sent_bytes - first.sent_bytes) / elapsed_s
        parts = [f"{last.num_done} of {last.num_runs} runs", f"{size_text(last.sent_bytes)} sent"]
        parts.append(f"{size_text(rate)}/s")
        if last.left_bytes:
            parts.append(f"{size_text(last.left_bytes)} to go")
            if (done := first.left_bytes - last.left_bytes) > 0:
                parts.append(f"about {duration_text(last.left_bytes / (done / elapsed_s))} left")
        if last.num_files_left:
            parts.append(f"{last.num_files_left:,} files left")
        if last.problem:
            parts.append(last.problem)
        return ", ".join(parts)
