"""Regular expressions that strangers send: Python's own language, with an end to the time that they may take.

Python's `re` cannot be stopped and holds the interpreter's lock, so one bad pattern would stop the server. The `regex`
package reads the same language and has a time limit; where the two read a pattern differently, it is refused.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from strobe.errors import MissingExtra, UsageError

_MAX_LENGTH = 300
#: seconds that all texts of one filter may take together
BUDGET_S = 2.0
_COUNT = re.compile(r"(?<!\\)\{(\d*),?(\d*)\}")
#: counts such as {9} multiply when nested, and `regex` writes them out
_MAX_COUNTS = 10_000
# A brace that is no count means "nearly" to `regex`; [[: means a class to it and a set to `re`.
_AMBIGUOUS = re.compile(r"(?<!\\)\{(?!\d*,?\d*\})|\[\[:")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that was checked."""

    text: str

    def matching(self, texts: Iterable[str], *, budget_s: float = BUDGET_S) -> list[str]:
        """Return the texts in which it occurs; raise UsageError if that takes too long."""
        compiled = _compile_bounded(self.text)
        deadline = time.monotonic() + budget_s
        found = []
        try:
            for text in texts:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                if compiled.search(text, timeout=left, concurrent=True):
                    found.append(text)
        except TimeoutError as error:
            raise UsageError(
                f"$regex {self.text!r} takes more than {budget_s:g} s on these runs; write a simpler pattern,"
                " or narrow the runs down by other conditions"
            ) from error
        return found


def compile_pattern(pattern: Any) -> Pattern:
    """Return the pattern; raise UsageError if it is none, or too long."""
    if not isinstance(pattern, str):
        raise UsageError(f"$regex takes a regular expression, got {pattern!r}")
    if len(pattern) > _MAX_LENGTH:
        raise UsageError(f"$regex takes at most {_MAX_LENGTH} characters, got {len(pattern)}")
    try:
        re.compile(pattern)
    except (re.error, FutureWarning, OverflowError, RecursionError) as error:
        raise UsageError(f"$regex takes a regular expression, got {pattern!r}: {error}") from error
    if math.prod(max(1, *(int(end or 1) for end in count)) for count in _COUNT.findall(pattern)) > _MAX_COUNTS:
        raise UsageError(f"$regex {pattern!r} counts too far: its {{…}} multiply to more than {_MAX_COUNTS}")
    if found := _AMBIGUOUS.search(pattern):
        raise UsageError(f"$regex {pattern!r}: write {found.group()!r} with backslashes, it has two meanings")
    return Pattern(pattern)


def _compile_bounded(pattern: str) -> Any:
    try:
        import regex
    except ImportError as error:
        raise MissingExtra("$regex on a server needs the regex package: pip install 'strobe[server]'") from error
    try:
        return regex.compile(pattern, regex.VERSION0)
    except regex.error as error:
        raise UsageError(f"$regex takes a regular expression, got {pattern!r}: {error}") from error
