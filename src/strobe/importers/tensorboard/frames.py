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
from typing import BinaryIO, NamedTuple

from strobe.importers.loss import Loss
from strobe.importers.tensorboard.crc32c import masked_crc32c, masked_crc32c_of

_CHUNK = 1 << 20
_HEADER = struct.Struct("<QI")
_HEADER_SIZE = _HEADER.size
_FOOTER_SIZE = 4
_read_footer = struct.Struct("<I").unpack_from
#: where a length under 4 GiB that is not zero may stand
_LENGTH = re.compile(rb"(?=(?!\0{4})[\s\S]{4}\0{4})")
#: lengths come again and again: their checksums are remembered, up to this many
_MAX_LENGTHS = 1 << 16


class _Scan(NamedTuple):
    """The records that lie whole in a stretch of bytes."""

    #: (start, length) of each payload
    spans: list[tuple[int, int]]
    #: where the first record begins that is not whole
    stop: int
    #: how many bytes that one has, 0 if not even its header is there
    wanted: int
    #: there is no record at all: the length does not match its checksum
    is_broken: bool


def read_records(stream: BinaryIO, lose: Callable[[Loss], None]) -> Iterator[bytes]:
    """Yield the payloads from the start of `stream` to its present end; what cannot be read goes to `lose`."""
    size = stream.seek(0, SEEK_END)
    stream.seek(0)
    checked: dict[int, int] = {}
    base, data, wanted = 0, b"", _CHUNK
    while base < size:
        data += stream.read(min(wanted, size - base - len(data)))
        found = _scan(data, checked)
        for (start, length), checksum in zip(found.spans, masked_crc32c_of(data, found.spans), strict=True):
            end = start + length
            if checksum == _read_footer(data, end)[0]:
                yield data[start:end]
            else:
                reason = "a record does not match its checksum"
                lose(Loss(base + start - _HEADER_SIZE, base + end + _FOOTER_SIZE, reason))
        base, data = base + found.stop, data[found.stop :]
        wanted = max(_CHUNK, found.wanted - len(data))
        if found.is_broken:
            start, base, data = base, _find_header(stream, base + 1, size), b""
            stream.seek(base)
            lose(Loss(start, base, "no record begins here"))
        elif base < size <= base + max(len(data), found.wanted - 1):
            lose(Loss(base, size, "the file ends inside a record", is_torn=True))
            return


def is_event_file(head: bytes) -> bool:
    """Tell whether a file that begins so can be one: its first record's length matches the checksum."""
    return len(head) >= _HEADER_SIZE and masked_crc32c(head[:8]) == _HEADER.unpack_from(head)[1]


def _scan(data: bytes, checked: dict[int, int]) -> _Scan:
    spans: list[tuple[int, int]] = []
    at, size = 0, len(data)
    while at + _HEADER_SIZE <= size:
        length, checksum = _HEADER.unpack_from(data, at)
        if checked.get(length) != checksum:
            if masked_crc32c(data[at : at + 8]) != checksum:
                return _Scan(spans, at, 0, is_broken=True)
            if len(checked) >= _MAX_LENGTHS:
                checked.clear()
            checked[length] = checksum
        end = at + _HEADER_SIZE + length + _FOOTER_SIZE
        if end > size:
            return _Scan(spans, at, end - at, is_broken=False)
        spans.append((at + _HEADER_SIZE, length))
        at = end
    return _Scan(spans, at, 0, is_broken=False)


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
