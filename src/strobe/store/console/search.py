"""Searching console lines: a plain text or a regular expression, in a bounded time per call.

Lines are looked at without their colours. Regular expressions are the user's own and may take exponential time, so
they are run by the `regex` library, which can be told when to give up; the standard one cannot.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from strobe.errors import MissingExtra, UsageError
from strobe.journal.cell import STYLE

MAX_PATTERN = 1000
#: how long one call may search; it answers with what it found and where to go on
BUDGET_S = 0.5

Test = Callable[[str], bool]


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for."""

    text: str
    is_regex: bool = False
    match_case: bool = False


class Deadline:
    """The time until which a call may search."""

    def __init__(self, budget_s: float = BUDGET_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + budget_s

    @property
    def left_s(self) -> float:
        return self._end - self._clock()


def compile_pattern(pattern: Pattern, deadline: Deadline) -> Test:
    """Return a test for lines; raise UsageError for what is no pattern, and from the test when it takes too long."""
    if not pattern.text or len(pattern.text) > MAX_PATTERN:
        raise UsageError(f"search for 1 to {MAX_PATTERN} characters, got {len(pattern.text)}")
    if pattern.is_regex:
        return _compile_regex(pattern, deadline)
    if pattern.match_case:
        return lambda line: pattern.text in _plain(line)
    wanted = pattern.text.casefold()
    return lambda line: wanted in _plain(line).casefold()


def _compile_regex(pattern: Pattern, deadline: Deadline) -> Test:
    try:
        import regex
    except ImportError as error:
        raise MissingExtra("searching by regular expression needs regex: pip install 'strobe[server]'") from error
    try:
        compiled = regex.compile(pattern.text, 0 if pattern.match_case else regex.IGNORECASE)
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        raise UsageError(f"{pattern.text!r} is no regular expression: {error}") from error

    def test(line: str) -> bool:
        try:
            return compiled.search(_plain(line), timeout=max(0.001, deadline.left_s)) is not None
        except TimeoutError as error:
            raise UsageError(
                f"{pattern.text!r} takes more than {BUDGET_S:g} s on a line of {len(line)} characters; simplify it"
            ) from error

    return test


def _plain(line: str) -> str:
    return STYLE.sub("", line) if "\x1b" in line else line
