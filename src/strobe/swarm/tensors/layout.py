"""The layout of safetensors: eight bytes of length, a JSON header, then the bytes of all tensors, back to back.

What is read may come from a stranger: every size is checked against every other before a view of it is handed out, and
nothing is copied. Knows names, dtype codes and shapes; neither torch nor what the tensors mean.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec

from strobe.errors import Error
from strobe.swarm.net.network import Payload

#: bytes per element
ITEM_BYTES: Final[dict[str, int]] = {
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
}
_LENGTH: Final = struct.Struct("<Q")
_METADATA: Final = "__metadata__"
#: Where the tensors begin, so that none of them lies across its own alignment.
_ALIGNMENT: Final = 64
_MAX_NAME: Final = 256


class MalformedTensors(Error):
    """These bytes are not tensors as `encode` writes them, or more than the reader wants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a reader is ready to take; `max_bytes` is what the tensors have when they are not compressed any more."""

    max_bytes: int = 256 << 20
    max_header_bytes: int = 64 << 10
    max_tensors: int = 64
    max_rank: int = 8


DEFAULT_BOUNDS: Final = Bounds()


class Slot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tensor of the header."""

    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


_header_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_slot_decoder = msgspec.json.Decoder(Slot)
_metadata_decoder = msgspec.json.Decoder(dict[str, str])


def size_of(dtype: str, shape: tuple[int, ...]) -> int:
    """Return how many bytes a tensor takes."""
    return ITEM_BYTES[dtype] * math.prod(shape)


def write_head(
    described: Mapping[str, tuple[str, tuple[int, ...]]], metadata: Mapping[str, str]
) -> tuple[bytes, tuple[str, ...]]:
    """Return what stands before tensors (dtype, shape), and the order in which their bytes follow it."""
    # Widest first: each then begins at a multiple of its item, whatever the sizes of those before it.
    order = tuple(sorted(described, key=lambda name: -ITEM_BYTES[described[name][0]]))
    header: dict[str, Any] = {_METADATA: metadata} if metadata else {}
    offset = 0
    for name in order:
        dtype, shape = described[name]
        end = offset + size_of(dtype, shape)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": (offset, end)}
        offset = end
    packed = msgspec.json.encode(header)
    packed += b" " * (-(len(packed) + _LENGTH.size) % _ALIGNMENT)
    return _LENGTH.pack(len(packed)) + packed, order


class Header(NamedTuple):
    """What a header says, checked: the tensors by name, the metadata, and how many bytes follow."""

    slots: dict[str, Slot]
    metadata: dict[str, str]
    size: int


def split(payload: Payload, bounds: Bounds) -> tuple[bytes, memoryview]:
    """Return the header as it stands, and the bytes of the tensors; MalformedTensors if there is no room for both."""
    whole = memoryview(payload).cast("B")
    if len(whole) < _LENGTH.size:
        raise MalformedTensors(f"{len(whole)} bytes; the length of the header alone takes {_LENGTH.size}")
    (length,) = _LENGTH.unpack_from(whole)
    if length > min(bounds.max_header_bytes, len(whole) - _LENGTH.size):
        raise MalformedTensors(f"a header of {length} bytes in a message of {len(whole)}")
    end = _LENGTH.size + length
    return bytes(whole[_LENGTH.size : end]), whole[end:]


def parse(header: bytes, bounds: Bounds) -> Header:
    """Return what a header says; MalformedTensors if anything is off."""
    try:
        raw = _header_decoder.decode(header)
        raw_metadata = raw.pop(_METADATA, None)
        metadata = _metadata_decoder.decode(raw_metadata) if raw_metadata is not None else {}
        slots = {name: _slot_decoder.decode(slot) for name, slot in raw.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise MalformedTensors(f"a header that is none: {exc}") from exc
    if len(slots) > bounds.max_tensors:
        raise MalformedTensors(f"{len(slots)} tensors; at most {bounds.max_tensors} are taken")
    end = 0
    for name, slot in sorted(slots.items(), key=lambda item: item[1].data_offsets):
        _check(name, slot, bounds)
        if slot.data_offsets[0] != end:
            raise MalformedTensors(
                f"tensor {name!r:.80} begins at {slot.data_offsets[0]}, the one before ends at {end}"
            )
        end = slot.data_offsets[1]
    return Header(slots, metadata, end)


def _check(name: str, slot: Slot, bounds: Bounds) -> None:
    if not 1 <= len(name) <= _MAX_NAME:
        raise MalformedTensors(f"a tensor's name has {len(name)} characters; 1 to {_MAX_NAME} are taken")
    if slot.dtype not in ITEM_BYTES:
        raise MalformedTensors(f"tensor {name!r:.80} has dtype {slot.dtype!r:.20}; known are {', '.join(ITEM_BYTES)}")
    # Nor is one without elements so long in other directions that no library could name its shape.
    room = math.prod(size or 1 for size in slot.shape)
    if len(slot.shape) > bounds.max_rank or any(size < 0 for size in slot.shape) or room > bounds.max_bytes:
        raise MalformedTensors(f"tensor {name!r:.80} has shape {slot.shape!r:.200}")
    begin, end = slot.data_offsets
    if end - begin != size_of(slot.dtype, slot.shape):
        raise MalformedTensors(f"tensor {name!r:.80} of {slot.dtype}{list(slot.shape)!r:.200} has {end - begin} bytes")
