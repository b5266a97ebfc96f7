"""Following one writer from any place on: exactly what a whole reading gives from there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.journal import Header, Writer, event
from strobe.journal.entry import Entry, Row
from strobe.journal.mark import Mark, place_of
from strobe.journal.segment import list_segments
from strobe.journal.tail import WriterTail, first_sequence, segment_sizes


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A writer of many segments whose clock is set back in the middle, with rows, fills and events."""
    place: Path = tmp_path_factory.mktemp("tail") / "journal"
    clock = [10**18]

    def now_ns() -> int:
        clock[0] += 1000
        return clock[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("strobe.journal.writer.time_ns", now_ns)
        header = Header(entity="local", project="p", run="r", writer="aaaaaaaa")
        writer = Writer(place, header, fsync="never", segment_bytes=1500, check_ns=0)
        for step in range(200):
            if step == 90:
                clock[0] -= 10**12
            sequence = writer.row({"loss": float(step), f"k{step % 3}": step}, step)
            if step % 5 == 0:
                writer.fill(sequence, step, clock[0], {"late": 1.0})
            if step % 7 == 0:
                writer.event(event.Console(time_ns=now_ns(), stream="stdout", text="x"))
        writer.close(event.Ended(time_ns=now_ns(), state="finished"))
    return place


def read(journal: Path, mark: Mark | None = None) -> list[Entry]:
    return list(WriterTail("aaaaaaaa", mark).poll(list_segments(journal)))


def marks(entries: list[Entry]) -> list[Mark]:
    found = [Mark()]
    for entry in entries:
        found.append(found[-1].after(entry))
    return found


@given(place=st.integers(0, 10_000))
def test_from_any_mark_comes_the_rest_of_the_whole(journal: Path, place: int) -> None:
    whole = read(journal)
    at = place % (len(whole) + 1)
    assert read(journal, marks(whole)[at]) == whole[at:]


def test_segments_before_the_mark_are_not_read(journal: Path) -> None:
    whole = read(journal)
    tail = WriterTail("aaaaaaaa", marks(whole)[-2])
    segments = list_segments(journal)
    assert len(list(tail.poll(segments))) == 1
    assert len(segments) > 5
    assert tail.num_read < 2 * segments[-1].stat().st_size + 2000


def test_the_end_is_noticed_even_where_it_lies_before_the_mark(journal: Path) -> None:
    tail = WriterTail("aaaaaaaa", marks(read(journal))[-1])
    assert list(tail.poll(list_segments(journal))) == []
    assert tail.is_ended


def test_what_is_left_shrinks_to_nothing(journal: Path) -> None:
    tail = WriterTail("aaaaaaaa")
    sizes = segment_sizes(journal)["aaaaaaaa"]
    assert tail.left_bytes(sizes) == sum(path.stat().st_size for path in list_segments(journal))
    list(tail.poll(list_segments(journal)))
    assert tail.left_bytes(sizes) == 0


def test_a_reader_that_stops_early_goes_on_where_it_stopped(journal: Path) -> None:
    whole, tail, found = read(journal), WriterTail("aaaaaaaa"), []
    while True:
        step = [entry for entry, _ in zip(tail.poll(list_segments(journal)), range(7), strict=False)]
        if not step:
            break
        found += step
    # zip() takes one entry more than it gives: those are missing here, nothing else is, and the order holds.
    assert [entry for entry in whole if entry in found] == found
    places = [place_of(entry) for entry in found]
    assert places == sorted(places)


def test_a_fill_does_not_move_the_clock() -> None:
    mark = Mark(5, 100)
    assert mark.after(Row(3, 0, 999, ("a",), [1], True, 999, 7)) == Mark(8, 100)
    assert mark.after(Row(7, 0, 999, ("a",), [1], False, 999, 7)) == Mark(8, 999)


def test_where_segments_begin(journal: Path, tmp_path: Path) -> None:
    firsts = [first_sequence(path) for path in list_segments(journal)]
    assert firsts[0] == 0
    assert firsts == sorted(first for first in firsts if first is not None)
    broken = tmp_path / "0001-aaaaaaaa-000000.strobe"
    broken.write_bytes(b"nonsense")
    assert first_sequence(broken) is None
    assert first_sequence(tmp_path / "none") is None


def test_other_files_are_no_segments(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("x")
    assert segment_sizes(tmp_path) == {}
    assert segment_sizes(tmp_path / "none") == {}


def test_a_segment_that_is_no_journal_is_passed_over_and_told(journal: Path, tmp_path: Path) -> None:
    segments = list_segments(journal)
    for path in segments:
        (tmp_path / path.name).write_bytes(path.read_bytes() if path != segments[1] else b"not a journal at all")
    tail = WriterTail("aaaaaaaa")
    found = list(tail.poll(list_segments(tmp_path)))
    assert 0 < len(found) < len(read(journal))
    assert place_of(found[-1]) == place_of(read(journal)[-1])
