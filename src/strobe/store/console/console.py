"""The console of a run: append to it, and read lines by number, from the end, around a time, or by what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

import msgspec

from strobe.errors import UsageError
from strobe.store.console.append import Piece, add
from strobe.store.console.lane import Lane, list_lanes
from strobe.store.console.merge import Line, Merged
from strobe.store.console.search import Deadline, Pattern, compile_pattern
from strobe.store.database import Cursor, Database

#: lines and characters of one answer
MAX_LINES = 10_000
MAX_CHARACTERS = 8 << 20
#: lanes that can be put together by time: each of them costs reading a page
MAX_LANES = 512


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Which lanes are meant: all, or those that fit what is given."""

    attempt: int | None = None
    writer: str | None = None
    stream: str | None = None


EVERYTHING = Choice()


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Consecutive lines, of `total`. Fewer than asked for if they are long: go on behind the last one."""

    lanes: list[Lane]
    total: int
    lines: list[Line]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Lines that hold what was looked for, and the number of the line from which to go on; none at the end."""

    lanes: list[Lane]
    total: int
    lines: list[Line]
    next: int | None


class Console:
    """What runs printed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @staticmethod
    def add(cursor: Cursor, run_id: int, attempt: int, writer: str, pieces: Iterable[Piece]) -> None:
        """Append, as part of the caller's transaction. A writer's pieces must come in their order, each once."""
        add(cursor, run_id, attempt, writer, pieces)

    def lanes(self, run_id: int, choice: Choice = EVERYTHING) -> list[Lane]:
        """Return which attempts, writers and streams printed something, and how many lines."""
        return self._database.read(lambda cursor: _lanes(cursor, run_id, choice))

    def lines(self, run_id: int, start: int, stop: int, choice: Choice = EVERYTHING) -> Answer:
        """Return the lines [start, stop) in the order of time."""
        return self._answer(run_id, choice, lambda merged: (start, stop))

    def tail(self, run_id: int, count: int, choice: Choice = EVERYTHING) -> Answer:
        """Return the last lines."""
        return self._answer(run_id, choice, lambda merged: (merged.total - count, merged.total))

    def around(self, run_id: int, time_ns: int, before: int, after: int, choice: Choice = EVERYTHING) -> Answer:
        """Return lines that began just before a time, and from it on."""

        def bounds(merged: Merged) -> tuple[int, int]:
            number = merged.number_at(time_ns)
            return number - before, number + after

        return self._answer(run_id, choice, bounds)

    def search(
        self, run_id: int, pattern: Pattern, *, start: int = 0, limit: int = 100, choice: Choice = EVERYTHING
    ) -> Found:
        """Return lines from number `start` on that hold the pattern. Searches for a moment only: see `Found.next`."""
        deadline = Deadline()
        test = compile_pattern(pattern, deadline)

        def ask(cursor: Cursor) -> Found:
            lanes = _lanes(cursor, run_id, choice)
            merged = Merged(cursor, lanes)
            found: list[Line] = []
            next_line: int | None = None
            for line in merged.lines(start):
                if len(found) == limit or (line.number > start and line.number % 256 == 0 and deadline.left_s < 0):
                    next_line = line.number
                    break
                if test(line.text):
                    found.append(line)
            return Found(lanes=lanes, total=merged.total, lines=found, next=next_line)

        return self._database.read(ask)

    def _answer(self, run_id: int, choice: Choice, bounds: Callable[[Merged], tuple[int, int]]) -> Answer:
        def ask(cursor: Cursor) -> Answer:
            lanes = _lanes(cursor, run_id, choice)
            merged = Merged(cursor, lanes)
            start, stop = bounds(merged)
            start = max(0, start)
            stop = min(stop, start + MAX_LINES)
            return Answer(lanes=lanes, total=merged.total, lines=_take(merged, start, stop))

        return self._database.read(ask)


def _take(merged: Merged, start: int, stop: int) -> list[Line]:
    taken: list[Line] = []
    size = 0
    if start >= min(stop, merged.total):
        return taken
    for line in islice(merged.lines(start), stop - start):
        taken.append(line)
        size += len(line.text)
        if size > MAX_CHARACTERS:
            break
    return taken


def _lanes(cursor: Cursor, run_id: int, choice: Choice) -> list[Lane]:
    lanes = list_lanes(cursor, run_id, attempt=choice.attempt, writer=choice.writer, stream=choice.stream)
    if len(lanes) > MAX_LANES:
        raise UsageError(f"{len(lanes)} consoles at once, at most {MAX_LANES} are put together; choose a writer")
    return lanes
