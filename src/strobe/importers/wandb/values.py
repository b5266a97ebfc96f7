"""Keys and values of wandb's records: dotted paths become nested maps, JSON becomes values. No files, no media."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from strobe.importers.protobuf import Message, WireError
from strobe.importers.wandb.fields import Changes, Item, Time

#: names that wandb adds to everything
OWN_KEYS = frozenset(("_step", "_timestamp", "_runtime", "_wandb"))
#: no value in wandb is nested deeper; a file that says otherwise is not to be followed
_MAX_DEPTH = 200
#: a time after this (the year 2242) is none
_LATEST_S = 1 << 33
_decode = json.JSONDecoder().raw_decode


def time_ns(moment: Message | None) -> int:
    """Return a protobuf Timestamp in nanoseconds since 1970, 0 if there is none or none that can be."""
    seconds = 0 if moment is None else moment.integer(Time.SECONDS)
    if moment is None or not 0 < seconds < _LATEST_S:
        return 0
    return seconds * 1_000_000_000 + moment.integer(Time.NANOS) % 1_000_000_000


def seconds_ns(moment: Any) -> int:
    """Return seconds since 1970 in nanoseconds, 0 if they are none that can be."""
    return int(moment * 1e9) if isinstance(moment, (int, float)) and 0 < moment < _LATEST_S else 0


def nested(items: Iterable[Message]) -> dict[str, Any]:
    """Return what items say, put together, in the order of the keys: wandb's own order is different in each row."""
    found: dict[str, Any] = {}
    for path, value in sorted(((path_of(item), value_of(item)) for item in items), key=lambda pair: pair[0]):
        place(found, path, value)
    return found


def path_of(item: Message) -> list[str]:
    """Return the key of an item, the nested ones within it after it."""
    path = item.texts(Item.NESTED_KEY) or [item.text(Item.KEY)]
    if len(path) > _MAX_DEPTH:
        raise WireError(f"a key is nested {len(path)} deep, at most {_MAX_DEPTH} are followed")
    return path


def value_of(item: Message) -> Any:
    """Return the value of an item, whichever of the ways of its version of wandb it was written in."""
    for number in (Item.VALUE_JSON, Item.JSON):
        if number in item:
            return parse_json(item.text(number))
    if Item.NUMBER in item:
        return item.double(Item.NUMBER)
    if Item.INTEGER in item:
        return _unzigzag(item.integer(Item.INTEGER))
    if Item.TEXT in item:
        return item.text(Item.TEXT)
    return bool(item.integer(Item.BOOLEAN)) if Item.BOOLEAN in item else None


def parse_json(text: str) -> Any:
    """Return what a JSON text says; NaN and the infinities are bare words in wandb's."""
    try:
        # What json.loads does, without its looks for white space, of which wandb writes none.
        value, end = _decode(text)
        return value if end == len(text) else json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise WireError(f"a value is no JSON: {text[:40]!r}") from exc


def place(values: dict[str, Any], path: list[str], value: Any) -> None:
    """Set the value at a path, making the maps on the way."""
    *way, last = path
    for name in way:
        inner = values.get(name)
        if not isinstance(inner, dict):
            inner = values[name] = {}
        values = inner
    values[last] = value


def remove(values: dict[str, Any], path: list[str]) -> None:
    """Remove what is at a path, if anything is."""
    *way, last = path
    for name in way:
        values = values.get(name, {})
        if not isinstance(values, dict):
            return
    values.pop(last, None)


def apply(values: dict[str, Any], changes: Message) -> set[str]:
    """Change `values` as a record of config or summary says; return the top-level keys that it touches."""
    touched = set()
    for path, value in _updates(changes):
        place(values, path, value)
        touched.add(path[0])
    for item in changes.messages(Changes.REMOVE):
        path = path_of(item)
        remove(values, path)
        touched.add(path[0])
    return touched


def _updates(changes: Message) -> Iterator[tuple[list[str], Any]]:
    for item in changes.messages(Changes.UPDATE):
        yield path_of(item), value_of(item)


def _unzigzag(number: int) -> int:
    number &= 0xFFFFFFFFFFFFFFFF
    return (number >> 1) ^ -(number & 1)
