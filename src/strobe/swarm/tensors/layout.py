"""The layout of safetensors: eight bytes of length, a JSON header, then the bytes of all tensors, back to back.

What is read may come from a stranger: every size is checked against every other before a view of it is handed out, and
nothing is copied. Knows names, dtype codes and shapes; neither torch nor what the tensors mean.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from strobe.errors import Error
from strobe.swarm.net.network import Payload, Pieces

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


def write(
    tensors: Mapping[str, tuple[str, tuple[int, ...], memoryview]], metadata: Mapping[str, str] | None = None
) -> Pieces:
    """Return header and tensors (dtype, shape, bytes) as one payload, without copying the tensors."""
    header: dict[str, Any] = {_METADATA: dict(metadata)} if metadata else {}
    # Widest first: each then begins at a multiple of its item, whatever the sizes of those before it.
    ordered = sorted(tensors.items(), key=lambda item: -ITEM_BYTES[item[1][0]])
    offset = 0
    for name, (dtype, shape, content) in ordered:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": (offset, offset + len(content))}
        offset += len(content)
    packed = msgspec.json.encode(header)
    packed += b" " * (-(len(packed) + _LENGTH.size) % _ALIGNMENT)
    head = _LENGTH.pack(len(packed)) + packed
    return Pieces((head, *(content for _, (_, _, content) in ordered if len(content))))


def read(payload: Payload, bounds: Bounds) -> tuple[dict[str, tuple[Slot, memoryview]], dict[str, str]]:
    """Return the tensors by name, as views of the payload, and the metadata; MalformedTensors if anything is off."""
    whole = memoryview(payload).cast("B")
    if len(whole) < _LENGTH.size:
        raise MalformedTensors(f"{len(whole)} bytes; the length of the header alone takes {_LENGTH.size}")
    (length,) = _LENGTH.unpack_from(whole)
    if length > min(bounds.max_header_bytes, len(whole) - _LENGTH.size):
        raise MalformedTensors(f"a header of {length} bytes in a message of {len(whole)}")
    content = whole[_LENGTH.size + length :]
    try:
        header = _header_decoder.decode(whole[_LENGTH.size : _LENGTH.size + length])
        raw_metadata = header.pop(_METADATA, None)
        metadata = _metadata_decoder.decode(raw_metadata) if raw_metadata is not None else {}
        slots = {name: _slot_decoder.decode(raw) for name, raw in header.items()}
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
    if end != len(content):
        raise MalformedTensors(f"the header describes {end} bytes of tensors, {len(content)} came")
    return {
        name: (slot, content[slot.data_offsets[0] : slot.data_offsets[1]]) for name, slot in slots.items()
    }, metadata


def _check(name: str, slot: Slot, bounds: Bounds) -> None:
    if not 1 <= len(name) <= _MAX_NAME:
        raise MalformedTensors(f"a tensor's name has {len(name)} characters; 1 to {_MAX_NAME} are taken")
    if slot.dtype not in ITEM_BYTES:
        raise MalformedTensors(f"tensor {name!r:.80} has dtype {slot.dtype!r:.20}; known are {', '.join(ITEM_BYTES)}")
    if len(slot.shape) > bounds.max_rank or any(size < 0 for size in slot.shape):
        raise MalformedTensors(f"tensor {name!r:.80} has shape {slot.shape!r:.200}")
    begin, end = slot.data_offsets
    if end - begin != size_of(slot.dtype, slot.shape):
        raise MalformedTensors(f"tensor {name!r:.80} of {slot.dtype}{list(slot.shape)!r:.200} has {end - begin} bytes")
