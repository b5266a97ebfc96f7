"""Values as they lie in the index: a document of nested maps becomes paths, each with one leaf or several.

    {"config": {"opt": {"lr": 0.1}}}   ->   config.opt: a map,  config.opt.lr: the number 0.1

A list gives a leaf for itself and one for each of its different elements, so that membership is a look-up. What the
index holds is enough to compare exactly, with these limits: texts are ordered by their first MAX_TEXT characters,
integers beyond 2^53 by the nearest double (equality is exact for both), and of a list MAX_ELEMENTS can be found.

NaN is a kind of its own (SQLite would make it NULL); it is neither less nor greater than anything, and sorts after
all numbers and texts whichever way round. Pure: nothing here knows a database.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from datetime import date
from enum import IntEnum
from typing import Any, NamedTuple

#: characters of a text that the index holds; four bytes each, which PostgreSQL can still index
MAX_TEXT = 500
#: characters of a path before it is shortened
MAX_PATH = 400
MAX_ELEMENTS = 256
#: paths of one run; what lies beyond is in its document only
MAX_PATHS = 10_000
_MAX_DEPTH = 32
_EXACT_INTEGERS = 2**53

#: attributes that are long, differ between all runs and that nobody searches by; they stay in the document
_UNSEARCHED = frozenset({"metadata.requirements", "metadata.sys_path", "metadata.git_diff", "metadata.git_untracked"})


class Kind(IntEnum):
    """What a value is. The numbers are stored."""

    NUMBER = 1
    BOOL = 2
    TEXT = 3
    NAN = 4
    NULL = 5
    LIST = 6
    MAP = 7
    #: bytes, arrays: they are there, and that is all that can be asked
    OTHER = 8


class Leaf(NamedTuple):
    """A row of the index without its run, path and place. Two values are equal if their leaves are."""

    kind: int
    number: float | None = None
    text: str | None = None
    digest: bytes | None = None


Leaves = tuple[Leaf, ...]


def leaf_of(value: Any) -> Leaf:
    """Return the leaf of one value."""
    if value is None:
        return Leaf(Kind.NULL)
    if isinstance(value, bool):
        return Leaf(Kind.BOOL, float(value))
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return Leaf(Kind.NAN) if math.isnan(value) else Leaf(Kind.NUMBER, value)
    if isinstance(value, str):
        return Leaf(Kind.TEXT, None, *_cut(storable(value)))
    if isinstance(value, date):
        return Leaf(Kind.TEXT, None, *_cut(value.isoformat()))  # as JSON answers show it
    if isinstance(value, (list, tuple)):
        return Leaf(Kind.LIST, None, *_cut(storable(_canonical(value))))
    if isinstance(value, Mapping):
        return Leaf(Kind.MAP, None, None, _digest(_canonical(value)))
    return Leaf(Kind.OTHER)


def leaves_of(value: Any) -> Leaves:
    """Return the leaf of a value, and, if it is a list, those of its elements."""
    if not isinstance(value, (list, tuple)):
        return (leaf_of(value),)
    elements = dict.fromkeys(leaf_of(item) for item in value[:MAX_ELEMENTS] if not isinstance(item, (list, tuple)))
    return (leaf_of(value), *elements)


def flatten(document: Mapping[str, Any]) -> dict[str, Leaves]:
    """Return every path of a document with its leaves.

    Where "a.b": 1 and "a": {"b": 2} give the same path, the longer key counts, as in `strobe.api.filter.dig`.
    """
    found: dict[str, Leaves] = {}
    for name, value in document.items():
        if isinstance(value, Mapping):
            _open(found, f"{name}.", value, 0)
        else:
            found[name] = leaves_of(value)
        if len(found) >= MAX_PATHS:
            break
    return found


def _open(found: dict[str, Leaves], prefix: str, mapping: Mapping[Any, Any], depth: int) -> None:
    items: Iterable[tuple[Any, Any]] = mapping.items()
    if any("." in str(key) for key in mapping):
        items = sorted(items, key=lambda item: len(str(item[0])), reverse=True)
    for key, value in items:
        path = path_name(f"{prefix}{key}")
        if len(found) >= MAX_PATHS or path in _UNSEARCHED:
            continue
        found.setdefault(path, leaves_of(value))
        if isinstance(value, Mapping) and key != "" and depth < _MAX_DEPTH:
            _open(found, f"{prefix}{key}.", value, depth + 1)


def path_name(path: str) -> str:
    """Return how a path is called in the index: itself, shortened if it is very long."""
    path = storable(path)
    if len(path) <= MAX_PATH:
        return path
    return f"{path[:MAX_PATH]}#{hashlib.blake2b(path.encode(), digest_size=16).hexdigest()}"


def storable(text: str) -> str:
    """Return a text without NUL, which PostgreSQL refuses; order and equality stay as they were."""
    if "\0" not in text and "\x01" not in text:
        return text
    return text.replace("\x01", "\x01\x02").replace("\0", "\x01\x01")


def original(text: str) -> str:
    """Return the text that `storable` was given."""
    return text.replace("\x01\x01", "\0").replace("\x01\x02", "\x01") if "\x01" in text else text


def _integer(value: int) -> Leaf:
    if -_EXACT_INTEGERS <= value <= _EXACT_INTEGERS:
        return Leaf(Kind.NUMBER, float(value))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if number == value:
        return Leaf(Kind.NUMBER, number)
    return Leaf(Kind.NUMBER, number, *_cut(f"{value:x}"))  # hexadecimal: Python refuses to write very long decimals


def _cut(text: str) -> tuple[str, bytes | None]:
    return (text, None) if len(text) <= MAX_TEXT else (text[:MAX_TEXT], _digest(text))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _canonical(value: Any) -> str:
    """Return JSON that is the same for equal values: 1 and 1.0 are, 1 and true are not."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any, depth: int = 0) -> Any:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or isinstance(value, (bool, str, float)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= 2**63 else f"{value:x}"  # JSON's writer refuses very long ones
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    return value.isoformat() if isinstance(value, date) else repr(value)
