"""Names of experts: a prefix and its coordinates in a grid, `ffn.3.14`, and patterns of many, `ffn.[0:32].[0:256]`.

Pure text and numbers. A prefix with some of the coordinates and a dot at the end (`ffn.3.`) names a part of the grid.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Collection
from typing import Final, NewType

from strobe.errors import UsageError

ExpertUid = NewType("ExpertUid", str)

#: the coordinate that stands for "the expert itself" where a grid has one dimension
FLAT: Final = -1
_MAX_LENGTH: Final = 200
_NUMBER = r"(?:0|[1-9][0-9]{0,8})"
#: nothing that leads elsewhere in the name of a file, which is what a checkpoint makes of it
_PREFIX = r"[^.\s\[\]/\\\0]+"
_UID: Final = re.compile(rf"{_PREFIX}(?:\.{_NUMBER})+")
_RANGE: Final = re.compile(rf"\[({_NUMBER}):({_NUMBER})\]")
_PATTERN: Final = re.compile(rf"({_PREFIX})((?:\.(?:{_NUMBER}|\[{_NUMBER}:{_NUMBER}\]))+)")


def is_uid(text: object) -> bool:
    """Tell whether this is the name of an expert."""
    return isinstance(text, str) and len(text) <= _MAX_LENGTH and _UID.fullmatch(text) is not None


def parse_uid(text: str) -> ExpertUid:
    """Return a text that names an expert as such; UsageError if it does not."""
    if not is_uid(text):
        raise UsageError(f"{text!r:.80} names no expert; a name is a prefix and coordinates, such as ffn.3.14")
    return ExpertUid(text)


def prefix_of(uid: ExpertUid) -> str:
    return uid.partition(".")[0]


def coordinates_of(uid: ExpertUid) -> tuple[int, ...]:
    return tuple(map(int, uid.split(".")[1:]))


def parts_of_grid(uid: ExpertUid) -> list[tuple[str, int]]:
    """Return the parts of the grid that an expert lies in, each with the expert's coordinate inside it.

    The outermost, the whole grid, is not one: its record would be the business of every peer.
    """
    names = uid.split(".")
    if len(names) == 2:
        return [(f"{uid}.", FLAT)]
    return [(".".join(names[:depth]) + ".", int(names[depth])) for depth in range(2, len(names))]


class Pattern:
    """Many names at once: each place has a number or a half-open range, as slices do."""

    def __init__(self, text: str) -> None:
        matched = _PATTERN.fullmatch(text) if len(text) <= _MAX_LENGTH else None
        if matched is None:
            raise UsageError(f"{text!r:.80} is no pattern of experts; one looks like ffn.[0:32].[0:256]")
        self.prefix = matched[1]
        self.ranges = [_range(place) for place in matched[2][1:].split(".")]
        if any(not len(places) for places in self.ranges):
            raise UsageError(f"{text!r}: a range [a:b] holds the numbers from a up to b - 1; one here is empty")

    def __len__(self) -> int:
        return math.prod(map(len, self.ranges))

    def __contains__(self, uid: str) -> bool:
        if not is_uid(uid) or prefix_of(ExpertUid(uid)) != self.prefix:
            return False
        coordinates = coordinates_of(ExpertUid(uid))
        return len(coordinates) == len(self.ranges) and all(
            number in places for number, places in zip(coordinates, self.ranges, strict=True)
        )

    def __getitem__(self, index: int) -> ExpertUid:
        numbers = []
        for places in reversed(self.ranges):
            index, place = divmod(index, len(places))
            numbers.append(places[place])
        if index:
            raise IndexError
        return ExpertUid(".".join([self.prefix, *map(str, reversed(numbers))]))

    def sample(self, count: int, taken: Collection[str], rng: random.Random) -> list[ExpertUid]:
        """Return so many of the names that are not taken, at random; fewer if there are not so many."""
        size = len(self)
        # More than are needed at most, so that a grid of billions is not written down for it.
        wanted = min(size, count + len(taken))
        return [uid for uid in map(self.__getitem__, rng.sample(range(size), wanted)) if uid not in taken][:count]


def _range(place: str) -> range:
    matched = _RANGE.fullmatch(place)
    return range(int(matched[1]), int(matched[2])) if matched else range(int(place), int(place) + 1)
