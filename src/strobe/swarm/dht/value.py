"""Values and keys as bytes: msgpack in which tuples stay tuples.

The layout is hivemind's: a tuple is extension 0x40 around the array of its items, so that the same key has the same
hash in both. Values pass through the swarm packed and are opened only by those who asked for them; this module is the
one place that does so, and it treats what it opens as written by a stranger.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from strobe.errors import UsageError

_TUPLE: Final = 0x40
_SCALARS: Final = frozenset({str, bytes, int, float, bool, type(None)})
_MAX_DEPTH: Final = 64  # nobody stores deeper values by intent, and a deep one could exhaust a reader's stack

_encoder = msgspec.msgpack.Encoder()


class Undecodable(ValueError):
    """These bytes are not a value that `pack` writes."""


def pack(value: Any) -> bytes:
    """Return `value` as bytes; UsageError for what msgpack cannot carry."""
    try:
        return _encoder.encode(value if type(value) in _SCALARS else _carried(value, 0))
    except (OverflowError, UnicodeEncodeError) as exc:
        raise UsageError(f"cannot pack {value!r:.80}: {exc}; integers have at most 64 bits, text is UTF-8") from exc


def unpack(packed: bytes) -> Any:
    """Return the value; Undecodable if a stranger made these bytes up."""
    return _unpack(packed, 0)


def _carried(value: Any, depth: int) -> Any:
    """Return `value` with each tuple wrapped, refusing what would come back as something else."""
    if type(value) in _SCALARS:
        return value
    if depth >= _MAX_DEPTH:
        raise UsageError(f"a value is nested deeper than {_MAX_DEPTH} levels; flatten it")
    if isinstance(value, tuple):
        return msgspec.msgpack.Ext(_TUPLE, _encoder.encode([_carried(item, depth + 1) for item in value]))
    if isinstance(value, list):
        return [_carried(item, depth + 1) for item in value]
    if isinstance(value, dict):
        for key in value:
            if type(key) not in _SCALARS:
                raise UsageError(f"cannot pack a dictionary with the key {key!r:.80}: use text, bytes or numbers")
        return {key: _carried(item, depth + 1) for key, item in value.items()}
    # Subclasses, such as enumerations and numpy's float64, travel as what they are, whatever they show themselves as.
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(memoryview(value))
    raise UsageError(f"cannot pack {value!r:.80} of type {type(value).__name__}: turn it into text, bytes or numbers")


def _unpack(packed: bytes | memoryview, depth: int) -> Any:
    if depth >= _MAX_DEPTH:
        raise Undecodable(f"nested deeper than {_MAX_DEPTH} levels")

    def extension(code: int, content: memoryview) -> Any:
        if code != _TUPLE:
            raise Undecodable(f"unknown extension {code}")
        items = _unpack(content, depth + 1)
        if not isinstance(items, list):
            raise Undecodable(f"a tuple holds {type(items).__name__} instead of an array")
        return tuple(items)

    try:
        return msgspec.msgpack.decode(packed, ext_hook=extension)
    except (msgspec.DecodeError, RecursionError, TypeError, ValueError) as exc:
        raise exc if isinstance(exc, Undecodable) else Undecodable(str(exc)) from exc
