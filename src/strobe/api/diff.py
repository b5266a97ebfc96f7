"""What differs between runs: n-way, nested keys dotted, sections apart, noise left out by pattern.

Pure: works on the mappings it is given and does not know where they come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strobe.api.filter import ABSENT
from strobe.api.rows import flatten
from strobe.errors import UsageError


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One key and its value in each run; ABSENT where a run does not have it."""

    section: str
    key: str
    values: tuple[Any, ...]
    differs: bool


def diff_mappings(
    section: str,
    mappings: Sequence[Mapping[str, Any]],
    *,
    ignore: Sequence[str] = (),
    everything: bool = False,
) -> list[DiffRow]:
    """Compare key by key; only what differs unless `everything`; `ignore` holds regexes for "section.key"."""
    patterns = compile_patterns(ignore)
    flats = [flatten(mapping) for mapping in mappings]
    rows = []
    for key in _keys(flats):
        if any(pattern.search(f"{section}.{key}") for pattern in patterns):
            continue
        values = tuple(flat.get(key, ABSENT) for flat in flats)
        differs = any(not same(value, values[0]) for value in values[1:])
        if differs or everything:
            rows.append(DiffRow(section, key, values, differs))
    return rows


def compile_patterns(patterns: Sequence[str]) -> list[re.Pattern[str]]:
    """Compile what `--ignore` was given; a broken pattern is the caller's mistake."""
    try:
        return [re.compile(pattern) for pattern in patterns]
    except re.error as exc:
        raise UsageError(f"{exc.pattern!r} is not a regular expression: {exc}") from exc


def same(left: Any, right: Any) -> bool:
    """Compare as a reader would: NaN is the same as NaN, 1 the same as 1.0, but True is not 1."""
    if left is ABSENT or right is ABSENT:
        return left is right
    if isinstance(left, bool) != isinstance(right, bool):
        return False
    if isinstance(left, float) and isinstance(right, float) and left != left and right != right:
        return True
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    return bool(left == right)


def _keys(flats: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Every key once, in the order in which the runs have them."""
    yield from dict.fromkeys(key for flat in flats for key in flat)
