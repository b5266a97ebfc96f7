"""The formats written the other way round, as small as tests need them: messages, TFRecords, `.wandb` files."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from zlib import crc32

from strobe.importers.tensorboard.crc32c import masked_crc32c

BLOCK = 32 << 10


def varint(number: int) -> bytes:
    number &= 0xFFFFFFFFFFFFFFFF
    content = bytearray()
    while number > 0x7F:
        content.append(number & 0x7F | 0x80)
        number >>= 7
    content.append(number)
    return bytes(content)


def field(number: int, value: int | float | str | bytes) -> bytes:
    """An int becomes a varint, a float a double, text and bytes what they are."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def single(number: int, value: float) -> bytes:
    return varint(number << 3 | 5) + struct.pack("<f", value)


def tf_record(payload: bytes) -> bytes:
    length = struct.pack("<Q", len(payload))
    return length + struct.pack("<I", masked_crc32c(length)) + payload + struct.pack("<I", masked_crc32c(payload))


def tf_event(wall_s: float, step: int, *fields: bytes) -> bytes:
    return tf_record(field(1, wall_s) + (field(2, step) if step else b"") + b"".join(fields))


def scalar(tag: str, value: float) -> bytes:
    return field(5, field(1, field(1, tag) + single(2, value)))


def wandb_file(records: Iterable[bytes]) -> bytes:
    content = bytearray(b":W&B" + struct.pack("<HB", 0xBEE1, 0))
    for rest in map(bytearray, records):
        is_first = True
        while True:
            room = BLOCK - len(content) % BLOCK
            if room < 7:
                content += bytes(room)
                room = BLOCK
            part = bytes(rest[: room - 7])
            del rest[: room - 7]
            kind = (1 if not rest else 2) if is_first else (4 if not rest else 3)
            content += struct.pack("<IHB", crc32(bytes([kind]) + part), len(part), kind) + part
            is_first = False
            if not rest:
                break
    return bytes(content)
