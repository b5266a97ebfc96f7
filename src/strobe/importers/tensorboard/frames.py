"""TFRecord: how event files hold their records. Knows bytes and checksums, not what a record means.

    record = length u64, masked CRC-32C of the length u32, payload, masked CRC-32C of the payload u32 (little-endian)

A payload that does not match its checksum is left out, and reading goes on behind it. A length that does not match
is searched past: the next eight bytes that look like a length and match their checksum begin the next record.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from io import SEEK_END
from typing import BinaryIO

from strobe.importers.loss import Loss
from strobe.importers.tensorboard.crc32c import masked_crc32c

_CHUNK = 1 << 20
_HEADER = struct.Struct("<QI")
_HEADER_SIZE = _HEADER.size
_FOOTER_SIZE = 4
_read_footer = struct.Struct("<I").unpack_from
#: where a length under 4 GiB that is not zero may stand
_LENGTH = re.compile(rb"(?=(?!\0{4})[\s\S]{4}\0{4})")
#: lengths come again and again: their checksums are remembered, up to this many
_MAX_LENGTHS = 1 << 16


def read_records(stream: BinaryIO, lose: Callable[[Loss], None]) -> Iterator[bytes]:
    """Yield the payloads from the start of `stream` to its present end; what cannot be read goes to `lose`."""
    size = stream.seek(0, SEEK_END)
    stream.seek(0)
    buffer, base, at = b"", 0, 0
    checked: dict[int, int] = {}
    while base + at < size:
        end = at + _HEADER_SIZE
        if end > len(buffer):
            if base + end > size:
                break
            buffer, base, at = buffer[at:] + stream.read(_CHUNK), base + at, 0
            continue
        length, checksum = _HEADER.unpack_from(buffer, at)
        if checked.get(length) != checksum:
            if masked_crc32c(buffer[at : at + 8]) != checksum:
                found = _find_header(stream, base + at + 1, size)
                lose(Loss(base + at, found, "no record begins here"))
                stream.seek(found)
                buffer, base, at = b"", found, 0
                continue
            if len(checked) >= _MAX_LENGTHS:
                checked.clear()
            checked[length] = checksum
        start, stop = end, end + length
        end = stop + _FOOTER_SIZE
        if end > len(buffer):
            if base + end > size:
                break
            buffer, base, at = buffer[at:] + stream.read(max(_CHUNK, end - len(buffer))), base + at, 0
            continue
        payload = buffer[start:stop]
        if masked_crc32c(payload) == _read_footer(buffer, stop)[0]:
            yield payload
        else:
            lose(Loss(base + at, base + end, "a record does not match its checksum"))
        at = end
    if base + at < size:
        lose(Loss(base + at, size, "the file ends inside a record", is_torn=True))


def is_event_file(head: bytes) -> bool:
    """Tell whether a file that begins so can be one: its first record's length matches the checksum."""
    return len(head) >= _HEADER_SIZE and masked_crc32c(head[:8]) == _HEADER.unpack_from(head)[1]


def _find_header(stream: BinaryIO, start: int, size: int) -> int:
    """Return where the next length stands that matches its checksum, or the end of the file."""
    while start + _HEADER_SIZE <= size:
        stream.seek(start)
        chunk = stream.read(_CHUNK + _HEADER_SIZE - 1)
        for match in _LENGTH.finditer(chunk):
            if is_event_file(chunk[match.start() : match.start() + _HEADER_SIZE]):
                return start + match.start()
        start += _CHUNK
    return size
