"""How far a session of measurements is: one line that is drawn over on a terminal, a line per repeat elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from strobe.cli.grid import cut
from strobe.cli.render import Screen, duration_text
from strobe.terminal import Terminal

if TYPE_CHECKING:
    from strobe.bench.compare.confirmation import Turn
    from strobe.bench.runner.session import Progress

_BAR_WIDTH = 20


class ProgressLine:
    """Tells a person on stderr; says nothing when quiet."""

    def __init__(self, screen: Screen, terminal: Terminal | None = None) -> None:
        self._screen = screen
        self._terminal = terminal or Terminal(sys.stderr)

    def show(self, progress: Progress) -> None:
        """Show the state before or after a repeat."""
        if self._screen.quiet:
            return
        if self._terminal.is_interactive:
            line = f"{_bar(progress, unicode=self._terminal.has_unicode)} {_place(progress)}"
            self._terminal.write(f"\r\x1b[K{cut(line, self._terminal.width - 1)}")
        elif progress.outcome is not None:
            self._screen.note(f"{_place(progress)}: {_result(progress)}")

    def clear(self) -> None:
        """Leave the line empty, for what comes next."""
        if self._terminal.is_interactive and not self._screen.quiet:
            self._terminal.write("\r\x1b[K")


class TurnLine(ProgressLine):
    """The same of rows that are measured again: how far the present look is."""

    def __init__(self, screen: Screen, terminal: Terminal | None = None) -> None:
        super().__init__(screen, terminal)
        self._began = time.monotonic()

    def note(self, text: str) -> None:
        """Say something above the line."""
        self.clear()
        self._screen.note(text)

    def show_turn(self, turn: Turn) -> None:
        """Show what is measured next."""
        if self._screen.quiet:
            return
        if not turn.num_done:
            self._began = time.monotonic()
            left = ""
        else:
            each_s = (time.monotonic() - self._began) / turn.num_done
            left = f", about {duration_text(each_s * (turn.num_repeats - turn.num_done))} left"
        line = f"{turn.num_done}/{turn.num_repeats}{left}, {turn.name}"
        if self._terminal.is_interactive:
            bar = _bar(turn, unicode=self._terminal.has_unicode)
            self._terminal.write(f"\r\x1b[K{cut(f'{bar} {line}', self._terminal.width - 1)}")
        else:
            self._screen.note(line)


def _bar(progress: Progress | Turn, *, unicode: bool) -> str:
    done = round(_BAR_WIDTH * progress.num_done / max(1, progress.num_repeats))
    full, empty = ("█", "░") if unicode else ("#", ".")
    return full * done + empty * (_BAR_WIDTH - done)


def _place(progress: Progress) -> str:
    left = f", about {duration_text(progress.left_s)} left" if progress.left_s is not None else ""
    return f"{progress.num_done}/{progress.num_repeats}{left}, {progress.cell} #{progress.repeat}"


def _failure(text: str) -> str:
    from strobe.bench.records import NOT_HERE

    # What was never tried has not failed.
    return f"left out: {text}" if text.startswith(NOT_HERE) else f"failed: {text}"


def _result(progress: Progress) -> str:
    from strobe.bench.runner.message import Outcome
    from strobe.bench.runner.rows import score
    from strobe.bench.table import number_text

    outcome, benchmark = progress.outcome, progress.cell.benchmark
    if not isinstance(outcome, Outcome):
        return _failure(outcome.text.splitlines()[0]) if outcome else ""
    if not outcome.repeat.wall_s:
        return "done; node 0 has the result"
    noisy = f" (noisy: {', '.join(outcome.repeat.noisy)})" if outcome.repeat.noisy else ""
    return f"{number_text(score(outcome.work, outcome.repeat.step_s, benchmark.units))} {benchmark.units}{noisy}"
