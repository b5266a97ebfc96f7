"""What is written is read again: whole, cut short at any byte, or with any bit flipped."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strobe.errors import JournalError, JournalVersion
from strobe.home import Home, RunPath
from strobe.journal import Header, Writer
from strobe.journal import event as ev
from strobe.journal.entry import Noted, Row
from strobe.journal.reader import SegmentReader
from strobe.journal.segment import list_segments
from strobe.journal.writer import RowTooLarge
from tests.journal.strategies import logged, rows

Logged = list[tuple[dict[str, Any], int]]


def make_writer(directory: Path, **options: Any) -> Writer:
    run_dir = Home(directory).run_dir(RunPath("local", "p", "r"))
    return Writer(run_dir.journal, Header(entity="local", project="p", run="r", writer="w0"), **options)


def write(directory: Path, data: Logged) -> Path:
    writer = make_writer(directory)
    writer.event(ev.Started(time_ns=1, attributes={"name": "x"}))
    for row, step in data:
        writer.row(row, step)
    writer.sync()
    path = writer.segment
    writer.forget()
    return path


def read(path: Path) -> tuple[list[tuple[dict[str, Any], int]], SegmentReader]:
    reader = SegmentReader(path)
    found = [(dict(entry.items()), entry.step) for entry in reader.poll() if isinstance(entry, Row)]
    return found, reader


def same(a: object, b: object) -> bool:
    """Equality that takes NaN as equal to itself."""
    return repr(a) == repr(b)


@given(logged)
@settings(max_examples=80, deadline=None)
def test_round_trip(data: Logged) -> None:
    with tempfile.TemporaryDirectory() as directory:
        found, reader = read(write(Path(directory), data))
        assert same(found, data)
        assert not reader.damages
        assert reader.torn is None
        assert reader.header.path == RunPath("local", "p", "r")


@given(logged)
@settings(max_examples=5, deadline=None)
def test_truncation_at_every_byte_gives_a_clean_prefix(data: Logged) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = write(Path(directory), data)
        content = path.read_bytes()
        before = -1
        for cut in range(len(content)):
            path.write_bytes(content[:cut])
            found, reader = read(path)
            assert same(found, data[: len(found)])
            assert not reader.damages, (cut, reader.damages)
            assert len(found) >= before, "a longer file never shows fewer rows"
            before = len(found)
            assert (reader.torn is None) == (reader.offset == cut)


@given(logged.filter(bool), st.data())
@settings(max_examples=100, deadline=None)
def test_any_flipped_bit_is_detected_and_never_a_wrong_value(data: Logged, draw: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = write(Path(directory), data)
        content = bytearray(path.read_bytes())
        bit = draw.draw(st.integers(0, 8 * len(content) - 1))
        content[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(content)
        try:
            found, reader = read(path)
        except JournalError:
            assert bit < 64, "only a file that does not begin like a journal is refused whole"
            return
        assert reader.damages, "a flipped bit must not pass unseen"
        remaining = [repr(item) for item in data]
        for item in found:
            assert repr(item) in remaining, "every value read was written"
            remaining.remove(repr(item))
        # Flipping one bit costs one record; only the record with key names takes rows with it.
        lost_keys = any("names" in damage.reason for damage in reader.damages)
        assert lost_keys or len(found) >= len(data) - 1


@given(logged.filter(bool), st.integers(0), st.binary(min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_bytes_written_over_never_give_a_wrong_value(data: Logged, place: int, garbage: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = write(Path(directory), data)
        content = bytearray(path.read_bytes())
        start = 8 + place % (len(content) - 8)
        replaced = content[:start] + garbage + content[start + len(garbage) :]
        if replaced == content:
            return
        path.write_bytes(replaced)
        found, reader = read(path)
        known = [repr(item) for item in data]
        assert all(repr(item) in known for item in found)
        assert reader.damages or reader.torn is not None


def test_zeros_after_a_power_failure_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, [({"loss": 1.0}, 0)])
    with path.open("ab") as stream:
        stream.write(bytes(4096))
    found, reader = read(path)
    assert found == [({"loss": 1.0}, 0)]
    assert [damage.reason for damage in reader.damages] == ["zeros to the end of the file, as after a power failure"]


def test_a_newer_version_is_refused_with_the_version(tmp_path: Path) -> None:
    path = write(tmp_path, [])
    content = bytearray(path.read_bytes())
    content[7] = 9
    path.write_bytes(content)
    with pytest.raises(JournalVersion, match="version 9"):
        list(SegmentReader(path).poll())


def test_an_unknown_event_is_kept_as_unknown(tmp_path: Path) -> None:
    class Later(ev.Event, frozen=True, kw_only=True, tag="later"):
        colour: str

    writer = make_writer(tmp_path)
    writer.event(Later(time_ns=5, colour="blue"))
    writer.row({"x": 1}, 0)
    reader = SegmentReader(writer.segment)
    first, second = list(reader.poll())
    assert isinstance(first, Noted)
    assert first.event == ev.Unknown(time_ns=5, name="later", fields={"colour": "blue"})
    assert isinstance(second, Row)
    assert reader.num_unknown == 1


def test_a_reader_follows_a_growing_file(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    reader = SegmentReader(writer.segment)
    for number in range(5):
        writer.row({"x": number}, number)
        entries = list(reader.poll())
        assert [entry.step for entry in entries if isinstance(entry, Row)] == [number]
    assert list(reader.poll()) == []
    writer.close()
    assert list(reader.poll()) == []
    assert reader.seal is not None
    assert reader.seal.successor is None


def test_records_longer_than_a_chunk_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strobe.journal.reader._CHUNK", 64)
    monkeypatch.setattr(SegmentReader, "_wanted", 64)
    data: Logged = [({"text": "x" * size}, size) for size in (1, 50, 500, 5000)]
    found, reader = read(write(tmp_path, data))
    assert found == data
    assert not reader.damages


@given(rows)
@settings(max_examples=50, deadline=None)
def test_a_row_of_the_same_keys_costs_no_names(row: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        writer = make_writer(Path(directory))
        writer.row(row, 0)
        first = os.path.getsize(writer.segment)
        writer.row(row, 1)
        second = os.path.getsize(writer.segment) - first
        writer.row(row, 2)
        assert os.path.getsize(writer.segment) - first - second == second
        writer.forget()


@pytest.mark.parametrize(("width", "wandb_bytes"), [(1, 268), (10, 515), (100, 3088)])
def test_bytes_per_row_are_at_most_half_of_wandbs(tmp_path: Path, width: int, wandb_bytes: int) -> None:
    writer = make_writer(tmp_path)
    row = {f"metric_{i}": 0.123456789 + i for i in range(width)}
    writer.row(row, 10_000)
    before = os.path.getsize(writer.segment)
    for step in range(100):
        writer.row(row, 10_000 + step)
    assert (os.path.getsize(writer.segment) - before) / 100 <= wandb_bytes / 2


def test_a_row_of_another_time_has_that_time(tmp_path: Path) -> None:
    writer = make_writer(tmp_path, segment_bytes=20_000, check_ns=0)
    numbers = [writer.row_at({"loss": step / 2}, step, 1_000 + step) for step in range(1_000)]
    with pytest.raises(RowTooLarge):
        writer.row_at({"loss": "x" * (5 << 20)}, 0, 0)
    writer.close()
    segments = list_segments(tmp_path / "runs" / "local" / "p" / "r" / "journal")
    assert len(segments) > 1  # however long ago it was, a segment that is full is left
    found = [entry for path in segments for entry in SegmentReader(path).poll() if isinstance(entry, Row)]
    assert [(row.sequence, row.step, row.time_ns) for row in found] == [
        (number, step, 1_000 + step) for step, number in enumerate(numbers)
    ]
