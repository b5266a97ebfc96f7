"""`plain`: values of a config as None, bool, int, float, str, list and dict with text keys.

Every value has a fate (docs/config.md has the table) and none is dropped: what has no plain form is recorded as its
text, with one warning per type. Works by what an object offers; imports none of the libraries it understands.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from strobe.errors import UsageError
from strobe.settings.fields import fields_of, is_omegaconf, omegaconf_container
from strobe.settings.notice import warn_once

MAX_DEPTH = 200
MAX_ELEMENTS = 10_000
MAX_TEXT = 1_000

_SCALARS = frozenset({type(None), bool, int, float})
_LIST_LIKE = frozenset({"deque", "dict_keys", "dict_values", "odict_keys", "odict_values"})
#: ends of the names of types whose text says it all: numpy's and torch's dtypes, torch.device, …
_SAY_THEIR_NAME = ("timedelta", "uuid", "dtype", "device", "timezone", "zoneinfo")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def plain(value: Any, where: str = "config") -> Any:
    """Return `value` in plain form; `where` names it in messages.

    The result shares no container with `value`. Raises UsageError for a structure that contains itself, is nested
    deeper than 200 levels, or holds media (they are logged, not configured).
    """
    return _plain(value, where, [])


def _plain(value: Any, where: str, inside: list[int]) -> Any:
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is str:
        return _text(value)
    if id(value) in inside:
        raise UsageError(f"{where} contains itself; a config must be a tree")
    if len(inside) >= MAX_DEPTH:
        raise UsageError(f"{where[:80]}… is nested deeper than {MAX_DEPTH} levels; flatten it")
    inside.append(id(value))
    try:
        return _plain_object(value, where, inside)
    finally:
        inside.pop()


def _plain_object(value: Any, where: str, inside: list[int]) -> Any:
    import enum

    if isinstance(value, enum.Enum):
        return _plain(value.value, where, inside)
    if isinstance(value, Mapping) and not is_omegaconf(value):
        return _plain_mapping(value, where, inside)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return _plain_list(value, where, inside)
    if isinstance(value, (set, frozenset)):
        return _plain_list(_ordered(value), where, inside)
    if type(value).__name__ in _LIST_LIKE or (isinstance(value, range) and len(value) <= MAX_ELEMENTS):
        return _plain_list(value, where, inside)
    if is_omegaconf(value):
        return _plain(omegaconf_container(value), where, inside)
    if _is_array(value):
        return _plain_array(value, where, inside)
    if type(value).__module__.startswith("strobe.data"):
        raise UsageError(f"{where} is a {type(value).__name__}, which is no config value; log() it")
    found = fields_of(value)
    if found is not None:
        return _plain_mapping(found, where, inside)
    return _plain_leaf(value, where)


def _plain_mapping(value: Mapping[Any, Any], where: str, inside: list[int]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, item in value.items():
        name = _text(key) if isinstance(key, str) else str(key)
        if name in result:  # 1 and "1": both are kept, the later one by its repr
            name = repr(key)
        result[name] = _plain(item, f"{where}.{name}", inside)
    return result


def _plain_list(values: Iterable[Any], where: str, inside: list[int]) -> list[Any]:
    items = list(values)
    if _SCALARS.issuperset(map(type, items)):  # long lists of numbers are copied, not looked through
        return items
    return [_plain(item, f"{where}[{index}]", inside) for index, item in enumerate(items)]


def _plain_array(value: Any, where: str, inside: list[int]) -> Any:
    """Arrays and scalars of numpy, torch and JAX: their elements, unless there are too many for a config."""
    size = 1
    for extent in value.shape:
        size *= int(extent)
    if size > MAX_ELEMENTS:
        shape = "×".join(str(extent) for extent in value.shape)
        return _noted(value, where, f"<{_name(type(value))} {shape} {value.dtype}>")
    elements = value.tolist()
    if type(elements) is type(value):  # numpy's longdouble and the like, which Python has no number for
        return float(elements)
    return _plain(elements, where, inside)


def _plain_leaf(value: Any, where: str) -> Any:
    """Return the plain form of what holds nothing."""
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return _name(value)
    for kind, convert in ((bool, bool), (int, int), (float, float), (str, lambda text: _text(str(text)))):
        if isinstance(value, kind):
            return convert(value)
    if isinstance(value, os.PathLike):
        return _plain_leaf(os.fspath(value), where)
    if isinstance(value, (bytes, bytearray)):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            return bytes(value).hex()
    if callable(getattr(value, "isoformat", None)):  # datetime, date, time, pandas.Timestamp
        return str(value.isoformat())
    if callable(getattr(value, "as_integer_ratio", None)):  # Decimal, Fraction
        return _number(value)
    if isinstance(value, re.Pattern):
        return plain(value.pattern, where)
    if isinstance(value, (complex, range)) or type(value).__name__.lower().endswith(_SAY_THEIR_NAME):
        return str(value)
    return _noted(value, where, _repr(value))


def _number(value: Any) -> int | float:
    number = float(value)
    return int(value) if number.is_integer() and abs(number) < 2**63 else number


def _noted(value: Any, where: str, text: str) -> str:
    name = _name(type(value))
    warn_once(f"plain {name}", f"{where} is a {name}, which has no plain form; it is recorded as {text[:60]!r}")
    return text


def _repr(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  a stranger's __repr__ may raise anything, and must not stop the run
        return f"<{_name(type(value))}>"
    # An address differs from run to run and would make every two configs differ.
    text = _text(_ADDRESS.sub("", text))
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def _name(value: Any) -> str:
    module = getattr(value, "__module__", None)
    name = str(value.__qualname__)
    return name if module in {None, "builtins"} else f"{module}.{name}"


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        # A lone surrogate (an undecodable file name, say) is spelled out rather than lost.
        return text.encode("utf-8", "backslashreplace").decode()
    return str(text)


def _ordered(values: Iterable[Any]) -> list[Any]:
    """A set has no order; give it one, so that the same set is the same config in every run."""
    items = list(values)
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=lambda item: (_name(type(item)), _repr(item)))


def _is_array(value: Any) -> bool:
    shape = getattr(value, "shape", None)
    return isinstance(shape, tuple) and hasattr(value, "dtype") and callable(getattr(value, "tolist", None))
