"""What the rows of a batch hold, key by key: points that can be charted, and objects, which is everything else.

Numbers become points, also those inside of nested maps, under dotted names. A value that is no number, or that a
double cannot hold exactly, is an object as well, so that the history comes back as it was logged. Rows of one block
share their steps and times: the arrays are built once, however many keys there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from strobe.errors import CommError
from strobe.journal import value
from strobe.journal.entry import MAX_DEPTH, with_text_keys
from strobe.journal.history import iter_scalars
from strobe.store.database import NUL_SYMBOL
from strobe.store.series import BOOL, FLOAT, INT, Points
from strobe.wire.batch import Block, Column

_EXACT = 2**53
#: the place of a value among those of one attempt: order_ns, sequence (the writer is the batch's)
Moment = tuple[int, int]


@dataclass(slots=True)
class LoggedObject:
    """A value that is not (only) a point."""

    key: str
    step: int
    time_ns: int
    moment: Moment
    value: Any


@dataclass(slots=True)
class KeyNews:
    """What a batch says about one key. Where it was logged as such, places, steps and last value are of that alone."""

    #: the logged key that it was found inside of; the key itself if it was logged as such
    top: str
    #: moment and step of the first row that names it
    first: Moment
    first_step: int
    #: moment, step, time and value of the last; no value while there are only holes, or inside of another key
    last: Moment
    last_step: int
    last_time: int
    last_value: Any
    has_value: bool
    max_step: int
    points: list[Points] = field(default_factory=list)
    has_objects: bool = False


@dataclass(slots=True)
class Logged:
    """The rows of some blocks by key."""

    keys: dict[str, KeyNews] = field(default_factory=dict)
    objects: list[LoggedObject] = field(default_factory=list)
    #: the blocks as far as points are made of them: texts, tables and the like, which may be large, are objects only
    charted: list[Block] = field(default_factory=list)
    num_rows: int = 0
    max_time: int = 0

    @property
    def num_points(self) -> int:
        return sum(len(points) for news in self.keys.values() for points in news.points)


class _Rows:
    """The rows of one block: their places as arrays, shared by all keys."""

    def __init__(self, block: Block, writer: int) -> None:
        self.sequences = np.frombuffer(block.sequences, "<i8")
        self.steps = np.frombuffer(block.steps, "<i8")
        self.times = np.frombuffer(block.times, "<i8")
        self.orders = np.frombuffer(block.orders, "<i8") if block.orders else self.times
        self.writer = writer
        #: rows in the order of their moments
        rises = bool((self.orders[1:] >= self.orders[:-1]).all() and (self.sequences[1:] > self.sequences[:-1]).all())
        self.by_moment = None if rises else np.lexsort((self.sequences, self.orders))
        self._ints: dict[int, Any] = {}

    def __len__(self) -> int:
        return len(self.steps)

    @cached_property
    def first(self) -> int:
        return 0 if self.by_moment is None else int(self.by_moment[0])

    @cached_property
    def last(self) -> int:
        return len(self) - 1 if self.by_moment is None else int(self.by_moment[-1])

    @cached_property
    def max_step(self) -> int:
        return int(self.steps.max())

    def in_order(self) -> Iterable[int]:
        """Return the rows' numbers in the order of their moments."""
        return range(len(self)) if self.by_moment is None else self.by_moment.tolist()

    def moment(self, row: int) -> Moment:
        return int(self.orders[row]), int(self.sequences[row])

    def points(self, values: Any, kind: int) -> Points:
        """Return points for all rows; what they share is built once."""
        if kind not in self._ints:
            lags = self.orders - self.times
            shared = Points.of(
                self.steps,
                values,
                time_ns=self.times,
                lag_ns=lags,
                writer=self.writer,
                sequence=self.sequences,
                kind=kind,
            )
            self._ints[kind] = shared.ints
        return Points(self._ints[kind], np.asarray(values, "<f8").reshape(1, -1))

    def some_points(self, rows: list[int], values: list[float], kinds: list[int]) -> Points:
        return Points.of(
            self.steps[rows],
            values,
            time_ns=self.times[rows],
            lag_ns=self.orders[rows] - self.times[rows],
            writer=self.writer,
            sequence=self.sequences[rows],
            kind=kinds,
        )


def unseen(blocks: Sequence[Block], since: int) -> list[Block]:
    """Return the blocks without the rows whose sequence lies before `since`."""
    # A fill has its row's sequence, not its own; taking it in again changes nothing.
    return [block if block.is_fill or not since else _trim(block, since) for block in blocks]


def read_blocks(blocks: Sequence[Block], writer: int) -> Logged:
    """Return what the rows hold; `writer` is the small number of their writer."""
    logged = Logged()
    for block in blocks:
        rows = _Rows(block, writer)
        if not len(rows):
            continue
        if not block.is_fill:
            logged.num_rows += len(rows)
        logged.max_time = max(logged.max_time, int(rows.times.max()))
        columns = {}
        for key, column in zip(block.keys, block.columns, strict=True):
            charted = _read_column(logged, rows, storable(key), column)
            if charted is not None:
                columns[key] = charted
        if columns:
            logged.charted.append(msgspec.structs.replace(block, keys=list(columns), columns=list(columns.values())))
    return logged


def read_points(blocks: Sequence[Block], writer: int, keys: set[str] | None = None) -> dict[str, list[Points]]:
    """Return only the points, of some keys or of all."""
    found: dict[str, list[Points]] = {}
    for block in blocks:
        rows: _Rows | None = None
        for name, column in zip(block.keys, block.columns, strict=True):
            key = storable(name)
            if keys is not None and key not in keys and not (column.kind == "m" and _is_within(key, keys)):
                continue
            rows = rows or _Rows(block, writer)
            if column.kind == "d":
                found.setdefault(key, []).append(rows.points(np.frombuffer(column.cells, "<f8"), FLOAT))
            elif column.kind == "q":
                found.setdefault(key, []).append(rows.points(np.frombuffer(column.cells, "<i8").astype("<f8"), INT))
            elif len(rows):
                for inner, points in _mixed_points(rows, key, _cells(column, len(rows))).items():
                    if keys is None or inner in keys:
                        found.setdefault(inner, []).append(points)
    return found


def _is_within(key: str, keys: set[str]) -> bool:
    """Tell whether one of the keys may be a number inside of a nested value of `key`."""
    return any(wanted.startswith(f"{key}.") for wanted in keys)


def _trim(block: Block, since: int) -> Block:
    keep = np.frombuffer(block.sequences, "<i8") >= since
    if keep.all():
        return block

    def cut(packed: bytes) -> bytes:
        return np.frombuffer(packed, "<i8")[keep].tobytes() if packed else b""

    columns = [
        Column("m", value.encode_decoded([cell for cell, kept in zip(_cells(c, len(keep)), keep, strict=True) if kept]))
        if c.kind == "m"
        else Column(c.kind, cut(c.cells))
        for c in block.columns
    ]
    return msgspec.structs.replace(
        block,
        sequences=cut(block.sequences),
        steps=cut(block.steps),
        times=cut(block.times),
        orders=cut(block.orders),
        columns=columns,
    )


def _read_column(logged: Logged, rows: _Rows, key: str, column: Column) -> Column | None:
    """Note what a column holds; return what of it becomes points, if anything does."""
    if column.kind == "m":
        cells = _cells(column, len(rows))
        _read_mixed(logged, rows, key, cells)
        numbers = [_numbers(cell) for cell in cells]
        if numbers == cells:
            return column
        return None if all(cell is None for cell in numbers) else Column("m", value.encode_decoded(numbers))
    news = _news(logged, rows, key, key)
    if column.kind == "d":
        values = np.frombuffer(column.cells, "<f8")
        news.points.append(rows.points(values, FLOAT))
        _note_last(news, rows, rows.last, float(values[rows.last]))
        return column
    numbers = np.frombuffer(column.cells, "<i8")
    news.points.append(rows.points(numbers.astype("<f8"), INT))
    _note_last(news, rows, rows.last, int(numbers[rows.last]))
    for row in np.flatnonzero((numbers > _EXACT) | (numbers < -_EXACT)).tolist():
        _note_object(logged, news, rows, row, key, int(numbers[row]))
    return column


def _numbers(cell: Any, depth: int = 0) -> Any:
    """Return what of a value `iter_scalars` finds, in its place; None if that is nothing."""
    if isinstance(cell, (int, float)):
        return cell
    if not isinstance(cell, dict) or "_type" in cell or depth >= MAX_DEPTH:
        return None
    found = {name: _numbers(inner, depth + 1) for name, inner in cell.items()}
    return {name: inner for name, inner in found.items() if inner is not None} or None


def _read_mixed(logged: Logged, rows: _Rows, key: str, cells: list[Any]) -> None:
    news = _news(logged, rows, key, key)
    for row in rows.in_order():
        cell = cells[row]
        if cell is value.HOLE_VALUE:
            continue
        _note_last(news, rows, row, cell)
        if not isinstance(cell, (int, float)) or (isinstance(cell, int) and not -_EXACT <= cell <= _EXACT):
            _note_object(logged, news, rows, row, key, cell)
    for name, points in _mixed_points(rows, key, cells).items():
        inner = news if name == key else _news(logged, rows, name, key)
        inner.points.append(points)


def _mixed_points(rows: _Rows, key: str, cells: list[Any]) -> dict[str, Points]:
    """Return the numbers among mixed values and inside of nested ones, by their dotted names."""
    found: dict[str, tuple[list[int], list[float], list[int]]] = {}
    for row in rows.in_order():
        for name, number in iter_scalars(key, cells[row]):
            places, values, kinds = found.setdefault(storable(name), ([], [], []))
            places.append(row)
            values.append(_as_float(number))
            kinds.append(BOOL if isinstance(number, bool) else INT if isinstance(number, int) else FLOAT)
    return {name: rows.some_points(*columns) for name, columns in found.items()}


def _news(logged: Logged, rows: _Rows, key: str, top: str) -> KeyNews:
    known = logged.keys.get(key)
    if known is not None and known.top == key != top:
        return known
    first, row = rows.moment(rows.first), rows.first
    step = int(rows.steps[row])
    if known is None or known.top != top == key:
        found = known.points if known is not None else []
        known = logged.keys[key] = KeyNews(top, first, step, (-(2**63), -1), step, 0, None, False, rows.max_step, found)
        return known
    if first < known.first:
        known.first, known.first_step = first, step
    known.max_step = max(known.max_step, rows.max_step)
    return known


def _note_last(news: KeyNews, rows: _Rows, row: int, item: Any) -> None:
    moment = rows.moment(row)
    if not news.has_value or moment >= news.last:
        news.last, news.last_value, news.has_value = moment, item, True
        news.last_step, news.last_time = int(rows.steps[row]), int(rows.times[row])


def _note_object(logged: Logged, news: KeyNews, rows: _Rows, row: int, key: str, item: Any) -> None:
    news.has_objects = True
    logged.objects.append(LoggedObject(key, int(rows.steps[row]), int(rows.times[row]), rows.moment(row), item))


def _cells(column: Column, num_rows: int) -> list[Any]:
    try:
        cells = value.decode(column.cells)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise CommError(f"a column of mixed values does not decode: {error}") from error
    if not isinstance(cells, list) or len(cells) != num_rows:
        raise CommError(f"a column of mixed values is not a list of {num_rows}")
    return [with_text_keys(cell) if cell.__class__ is dict else cell for cell in cells]


def storable(name: str) -> str:
    """Return a name as every database can hold it."""
    return name.replace("\0", NUL_SYMBOL) if "\0" in name else name


def _as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
