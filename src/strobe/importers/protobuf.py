"""Protocol buffers as they lie in a file: numbered fields of four wire types. No schema, no library, no disk.

A message becomes its fields by number; whoever knows the schema asks for a field by number and kind. A field that
comes twice has its last value, as the format has it; repeated ones are asked for as such. Whatever is wrong with the
bytes is a `WireError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct, error, iter_unpack
from typing import Any

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_SIZES = {FIXED64: 8, FIXED32: 4}
_read_double = Struct("<d").unpack
_read_float = Struct("<f").unpack


class WireError(ValueError):
    """These bytes are not a message of the kind that was expected."""


def read_varint(data: bytes, offset: int) -> tuple[int, int]:
    """Return the number at `offset` and the offset after it."""
    number = shift = 0
    while True:
        try:
            byte = data[offset]
        except IndexError:
            raise WireError("a number is cut short") from None
        offset += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & 0xFFFFFFFFFFFFFFFF, offset
        shift += 7
        if shift > 63:
            raise WireError("a number is longer than 64 bits")


def signed(number: int) -> int:
    """Return a varint as the signed integer that it stands for."""
    return number - (1 << 64) if number >> 63 else number


class Message:
    """The fields of one message. Numbers that are absent are zero, texts and bytes are empty, messages are None."""

    __slots__ = ("_fields",)

    def __init__(self, data: bytes) -> None:
        #: number → values: an int for a varint, else the bytes
        self._fields: dict[int, list[int | bytes]] = {}
        offset, size = 0, len(data)
        while offset < size:
            # Nearly all tags and lengths are one byte, which is read here and now.
            tag = data[offset]
            tag, offset = (tag, offset + 1) if tag < 0x80 else read_varint(data, offset)
            kind = tag & 7
            item: int | bytes
            if kind == VARINT:
                item, offset = read_varint(data, offset)
            else:
                if kind == BYTES:
                    length = data[offset] if offset < size else 0x80
                    length, offset = (length, offset + 1) if length < 0x80 else read_varint(data, offset)
                elif (length := _SIZES.get(kind, -1)) < 0:
                    raise WireError(f"a field has wire type {kind}, which nobody writes")
                item = data[offset : offset + length]
                if len(item) != length:
                    raise WireError(f"field {tag >> 3} is cut short: {len(item)} of {length} bytes")
                offset += length
            self._fields.setdefault(tag >> 3, []).append(item)

    def __contains__(self, number: int) -> bool:
        return number in self._fields

    @property
    def numbers(self) -> list[int]:
        """The numbers of the fields that are there."""
        return list(self._fields)

    def integer(self, number: int) -> int:
        """Return a signed integer, enum or bool."""
        found = self._fields.get(number)
        if not found:
            return 0
        item = found[-1]
        if not isinstance(item, int):
            raise WireError(f"field {number} holds bytes where a number was expected")
        return signed(item)

    def double(self, number: int) -> float:
        found = self._last(number)
        return float(_unpacked(_read_double, found, number)) if found is not None else 0.0

    def single(self, number: int) -> float:
        found = self._last(number)
        return float(_unpacked(_read_float, found, number)) if found is not None else 0.0

    def content(self, number: int) -> bytes:
        return self._last(number) or b""

    def text(self, number: int) -> str:
        return self.content(number).decode("utf-8", "replace")

    def texts(self, number: int) -> list[str]:
        return [item.decode("utf-8", "replace") for item in self.all_bytes(number)]

    def message(self, number: int) -> Message | None:
        found = self._last(number)
        return Message(found) if found is not None else None

    def messages(self, number: int) -> Iterator[Message]:
        return (Message(item) for item in self.all_bytes(number))

    def all_bytes(self, number: int) -> list[bytes]:
        """Return all values of a repeated field of texts, bytes or messages."""
        return [_bytes(item, number) for item in self._fields.get(number, ())]

    def numbers_of(self, number: int, code: str) -> list[Any]:
        """Return a repeated field of numbers of struct's `code` (d, f), or of varints ("v"), packed or not."""
        found: list[Any] = []
        for item in self._fields.get(number, ()):
            if isinstance(item, int):
                found.append(signed(item))
            elif code == "v":
                found += _varints(item)
            else:
                try:
                    found += [one for (one,) in iter_unpack(f"<{code}", item)]
                except error as exc:
                    raise WireError(f"field {number}: {len(item)} bytes are no numbers of type {code!r}") from exc
        return found

    def _last(self, number: int) -> bytes | None:
        found = self._fields.get(number)
        return _bytes(found[-1], number) if found else None


def _bytes(item: int | bytes, number: int) -> bytes:
    if isinstance(item, int):
        raise WireError(f"field {number} holds a number where bytes were expected")
    return item


def _varints(data: bytes) -> Iterator[int]:
    offset = 0
    while offset < len(data):
        number, offset = read_varint(data, offset)
        yield signed(number)


def _unpacked(read: Any, content: bytes, number: int) -> Any:
    try:
        return read(content)[0]
    except error as exc:
        raise WireError(f"field {number} has {len(content)} bytes, another width was expected") from exc
