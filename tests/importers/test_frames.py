"""Both framings: what was written comes back; a cut or a flipped bit costs what it hits, and gives no wrong record."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import BinaryIO, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.importers.loss import Loss
from strobe.importers.tensorboard import frames as tensorboard
from strobe.importers.tensorboard.crc32c import crc32c, masked_crc32c, masked_crc32c_of
from strobe.importers.wandb import frames as wandb
from tests.importers.encoding import BLOCK, tf_record, wandb_file

Read = Callable[[BinaryIO, Callable[[Loss], None]], Iterator[bytes]]
Encode = Callable[[list[bytes]], bytes]


def tf_file(records: list[bytes]) -> bytes:
    return b"".join(map(tf_record, records))


def records_of(sizes: st.SearchStrategy[int]) -> st.SearchStrategy[list[bytes]]:
    return st.lists(st.builds(lambda byte, size: bytes([byte]) * size, st.integers(1, 255), sizes), max_size=8)


class Framing(NamedTuple):
    """A way to write records, the reader of it, and where the first one begins."""

    encode: Encode
    reader: Read
    start: int
    records: st.SearchStrategy[list[bytes]]

    def ends(self, records: list[bytes]) -> list[int]:
        """Where each record ends in the file."""
        return [len(self.encode(records[: number + 1])) for number in range(len(records))]


# Short records, and for wandb some that fill blocks and go over them.
_SHORT = st.integers(1, 60)
_BLOCKS = st.sampled_from([BLOCK - 30, BLOCK - 14, BLOCK - 7, BLOCK, 3 * BLOCK])
TFRECORD = Framing(tf_file, tensorboard.read_records, 0, records_of(_SHORT))
WANDB = Framing(wandb_file, wandb.read_records, 7, records_of(st.one_of(_SHORT, _BLOCKS)))
both = pytest.mark.parametrize("framing", [TFRECORD, WANDB], ids=["tfrecord", "wandb"])


def read(reader: Read, content: bytes) -> tuple[list[bytes], list[Loss]]:
    losses: list[Loss] = []
    return list(reader(io.BytesIO(content), losses.append)), losses


def is_part_of(found: list[bytes], written: list[bytes]) -> bool:
    """Whether `found` is `written` with some left out."""
    rest = iter(written)
    return all(record in rest for record in found)


def test_the_checksum_is_castagnolis() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(b"") == 0
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(bytes(range(32))) == 0x46DD794E


@given(st.lists(st.binary(max_size=12), max_size=200))
def test_checksums_side_by_side_are_those_of_one(parts: list[bytes]) -> None:
    starts = accumulate((len(part) for part in parts), initial=0)
    spans = [(start, len(part)) for start, part in zip(starts, parts, strict=False)]
    assert masked_crc32c_of(b"".join(parts), spans) == [masked_crc32c(part) for part in parts]


def test_many_records_and_long_ones_come_back() -> None:
    records = [bytes([number % 251]) * (number % 5 + 1) for number in range(50_000)]
    records[70:70] = [bytes(range(256)) * 4_200]
    content = bytearray(tf_file(records))
    assert read(tensorboard.read_records, bytes(content)) == (records, [])
    content[len(tf_file(records[:60])) + 13] ^= 1
    found, losses = read(tensorboard.read_records, bytes(content))
    assert found == records[:60] + records[61:]
    assert len(losses) == 1


@both
@given(data=st.data())
def test_records_come_back(framing: Framing, data: st.DataObject) -> None:
    records = data.draw(framing.records)
    assert read(framing.reader, framing.encode(records)) == (records, [])


@both
@given(data=st.data())
def test_a_file_that_is_cut_off_has_its_first_records(framing: Framing, data: st.DataObject) -> None:
    records = data.draw(framing.records)
    content = framing.encode(records)
    size = data.draw(st.integers(framing.start, len(content)))
    found, losses = read(framing.reader, content[:size])
    # Everything that was written whole is there: only the record that the cut goes through is missing.
    assert found == records[: sum(end <= size for end in framing.ends(records))]
    assert all(loss.is_torn or not content[loss.start : size].strip(b"\0") for loss in losses)
    assert len(losses) <= 1


@both
@given(data=st.data())
def test_a_flipped_bit_costs_what_it_hits(framing: Framing, data: st.DataObject) -> None:
    records = data.draw(framing.records.filter(bool))
    content = bytearray(framing.encode(records))
    at = data.draw(st.integers(framing.start, len(content) - 1))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    found, losses = read(framing.reader, bytes(content))
    assert is_part_of(found, records)
    num_before = sum(end <= at for end in framing.ends(records))
    assert found[:num_before] == records[:num_before]
    # Filling at the end of a block belongs to no record.
    assert losses or found == records


@both
def test_records_behind_a_damaged_payload_are_read(framing: Framing) -> None:
    records = [bytes([number]) * 40 for number in range(1, 9)]
    content = bytearray(framing.encode(records))
    content[framing.ends(records)[2] - 8] ^= 1
    found, losses = read(framing.reader, bytes(content))
    assert found == records[:2] + records[3:]
    assert [loss.is_torn for loss in losses] == [False]


def test_a_damaged_length_is_searched_past() -> None:
    records = [bytes([number]) * 40 for number in range(1, 9)]
    content = bytearray(tf_file(records))
    content[len(tf_file(records[:3])) + 1] ^= 4
    found, losses = read(tensorboard.read_records, bytes(content))
    assert found == records[:3] + records[4:]
    assert (losses[0].start, losses[0].end) == (len(tf_file(records[:3])), len(tf_file(records[:4])))


def test_a_damaged_block_ends_with_the_block() -> None:
    records = [bytes([number]) * (BLOCK // 4) for number in range(1, 9)]
    content = bytearray(wandb_file(records))
    content[7 + 4] ^= 0x10  # the first chunk's length
    found, losses = read(wandb.read_records, bytes(content))
    # The fourth goes over into the next block, so its rest alone is no record.
    assert found == records[4:]
    assert losses[0].start == 7


@given(st.binary(max_size=300))
def test_whatever_the_bytes_are_nothing_is_raised(content: bytes) -> None:
    for reader in (tensorboard.read_records, wandb.read_records):
        read(reader, content)


def test_a_length_that_cannot_be_is_no_reason_to_ask_for_the_memory() -> None:
    content = tf_record(b"x")
    huge = (1 << 60).to_bytes(8, "little")
    found, losses = read(tensorboard.read_records, content + huge + masked_crc32c(huge).to_bytes(4, "little") + b"rest")
    assert found == [b"x"]
    assert losses[0].is_torn


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"", "has 0 bytes"),
        (b"PK\x03\x04zip", "begins with b'PK"),
        (b":W&B\x00\x00\x00", "begins with"),
        (b":W&B\xe1\xbe\x01", "version 1"),
    ],
)
def test_the_first_bytes_say_what_a_file_is(head: bytes, reason: str) -> None:
    assert reason in (wandb.describe_header(head) or "")
    assert wandb.describe_header(wandb_file([])) is None
