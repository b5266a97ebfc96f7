"""Finding the best experts of a grid that is only partly there: a beam search along its dimensions, for many rows.

The score of an expert is the sum of the scores of its coordinates. The DHT says which coordinates exist in a part of
the grid; all rows share what was asked, which is kept for some seconds, also when the answer was "nothing there".
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from strobe.errors import UsageError
from strobe.swarm.dht import DHT, ValueWithExpiration
from strobe.swarm.experts.directory import ExpertPlace, experts_in
from strobe.swarm.experts.uid import FLAT, coordinates_of, parse_uid

_FRESH_S: Final = 15.0
_MAX_KEPT: Final = 65_536


class Found(NamedTuple):
    """An expert, its coordinates, and how it scored."""

    place: ExpertPlace
    coordinates: tuple[int, ...]
    score: float


class _Part(NamedTuple):
    """What is known of a part of the grid, and until when that is believed."""

    until: float
    coordinates: np.ndarray[Any, np.dtype[np.int64]]
    places: dict[int, ExpertPlace]


class _Beam(NamedTuple):
    score: float
    name: str


class BeamSearch:
    """Searches one grid."""

    def __init__(
        self,
        dht: DHT,
        prefix: str,
        grid_size: Sequence[int],
        *,
        fresh_s: float = _FRESH_S,
    ) -> None:
        if not grid_size or any(size < 1 for size in grid_size):
            raise UsageError(f"grid_size is {list(grid_size)}; it has one number for each dimension, at least 1")
        parse_uid(".".join([prefix, *("0" for _ in grid_size)]))
        self._dht = dht
        self._prefix = prefix
        self._grid_size = tuple(grid_size)
        self._fresh_s = fresh_s
        self._lock = threading.Lock()
        self._known: dict[str, _Part] = {}

    def find(
        self, scores: Sequence[Any], k_best: int, is_left_out: Callable[[ExpertPlace], bool] = lambda place: False
    ) -> list[list[Found]]:
        """Return the k best experts of each row, best first; `scores` has an array (row, coordinate) per dimension.

        `is_left_out` tells which experts are not wanted now.
        """
        grids = [np.asarray(each, dtype=np.float64) for each in scores]
        shapes = [grid.shape[1:] for grid in grids]
        if shapes != [(size,) for size in self._grid_size]:
            raise UsageError(f"scores have {shapes} coordinates, the grid {list(self._grid_size)}")
        found: list[list[Found]] = [[] for _ in grids[0]]
        rows = list(range(len(found)))
        width = 2 * k_best  # so that few experts that are left out do not make a row search again
        with self._lock:
            while rows:
                beams = self._beams([grid[rows] for grid in grids], width)
                for row, (beam, _) in zip(rows, beams, strict=True):
                    found[row] = self._experts(beam, grids[-1][row], k_best, is_left_out)
                # All that a beam holds may be left out: rows that found too few search with a wider one.
                searched = zip(rows, beams, strict=True)
                rows = [row for row, (_, is_all) in searched if not is_all and len(found[row]) < k_best]
                width *= 2
        return found

    def _beams(self, grids: list[np.ndarray[Any, Any]], width: int) -> list[tuple[list[_Beam], bool]]:
        """Return, of each row, the best innermost parts that hold experts, and whether there are no others."""
        beams = self._first(grids[0], width)
        are_all = [len(beam) < width for beam in beams]
        for grid in grids[1:-1]:
            beams = [self._wider(beam, row, width) for beam, row in zip(beams, grid, strict=True)]
            are_all = [is_all and len(beam) < width for is_all, beam in zip(are_all, beams, strict=True)]
            self._look_up(each.name for beam in beams for each in beam)
        return list(zip(beams, are_all, strict=True))

    def _first(self, grid: np.ndarray[Any, Any], width: int) -> list[list[_Beam]]:
        """Return, of each row, the best first coordinates under which there is anything."""
        orders = np.argsort(-grid, axis=1, kind="stable")
        reach = width
        while True:
            # The best of each row are looked up together; rows that found too few look further.
            self._look_up(self._name(i) for order in orders for i in order[:reach].tolist())
            beams = [
                [_Beam(float(row[i]), name) for i in order[:reach].tolist() if self._exists(name := self._name(i))]
                for row, order in zip(grid, orders, strict=True)
            ]
            if reach >= grid.shape[1] or all(len(beam) >= width for beam in beams):
                return [beam[:width] for beam in beams]
            reach *= 2

    def _wider(self, beam: list[_Beam], row: np.ndarray[Any, Any], width: int) -> list[_Beam]:
        """Return the best continuations of a beam by one coordinate."""
        return [
            _Beam(score, f"{name}{coordinate}.")
            for score, name, coordinate in self._best(beam, row, width, self._known_part)
        ]

    def _experts(
        self,
        beam: list[_Beam],
        row: np.ndarray[Any, Any],
        k_best: int,
        is_left_out: Callable[[ExpertPlace], bool],
    ) -> list[Found]:
        found = []
        if len(self._grid_size) == 1:
            for score, name in beam:
                place = self._known_part(name).places.get(FLAT)
                if place is not None and not is_left_out(place):
                    found.append(Found(place, coordinates_of(place.uid), score))
            return found[:k_best]
        # More than are wanted, for some may be left out.
        for score, name, coordinate in self._best(beam, row, len(beam) * len(row), self._known_part):
            place = self._known_part(name).places[coordinate]
            if place.uid == f"{name}{coordinate}" and not is_left_out(place):
                found.append(Found(place, coordinates_of(place.uid), score))
                if len(found) == k_best:
                    break
        return found

    @staticmethod
    def _best(
        beam: list[_Beam], row: np.ndarray[Any, Any], width: int, part_of: Callable[[str], _Part]
    ) -> Iterable[tuple[float, str, int]]:
        """Yield score, part and coordinate of the continuations of a beam, best first."""
        parts = [(name, part_of(name).coordinates, score) for score, name in beam]
        if not parts:
            return
        totals = np.concatenate([row[coordinates] + score for _, coordinates, score in parts])
        owners: np.ndarray[Any, np.dtype[np.int64]] = np.repeat(
            np.arange(len(parts)), [len(coordinates) for _, coordinates, _ in parts]
        )
        coordinates = np.concatenate([coordinates for _, coordinates, _ in parts])
        for place in np.argsort(-totals, kind="stable")[:width].tolist():
            yield float(totals[place]), parts[owners[place]][0], int(coordinates[place])

    # -- what exists -------------------------------------------------------------------------------------------------

    def _name(self, coordinate: int) -> str:
        return f"{self._prefix}.{coordinate}."

    def _exists(self, name: str) -> bool:
        part = self._known_part(name)
        return FLAT in part.places if len(self._grid_size) == 1 else len(part.coordinates) > 0

    def _known_part(self, name: str) -> _Part:
        return self._known[name]

    def _look_up(self, names: Iterable[str]) -> None:
        """Make sure that what is known of these parts of the grid is fresh."""
        now = time.monotonic()
        stale = [name for name in dict.fromkeys(names) if (part := self._known.get(name)) is None or part.until <= now]
        if not stale:
            return
        if len(self._known) + len(stale) > _MAX_KEPT:
            self._known = {name: part for name, part in self._known.items() if part.until > now}
        for name, record in self._dht.get_many(stale, latest=True).items():
            self._known[name] = self._part(name, record, now + self._fresh_s)

    def _part(self, name: str, record: ValueWithExpiration | None, until: float) -> _Part:
        places = experts_in(name, record)
        depth = name.count(".") - 1  # how many coordinates the name has already
        size = self._grid_size[depth] if depth < len(self._grid_size) else 0
        inside = sorted(coordinate for coordinate in places if 0 <= coordinate < size)
        return _Part(until, np.array(inside, dtype=np.int64), places)
