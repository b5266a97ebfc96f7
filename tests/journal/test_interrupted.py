"""Signal handlers, finalizers and Ctrl-C in the middle of a record: nothing is misnamed, nothing is falsely missed."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strobe.journal import event as ev
from strobe.journal import value
from strobe.journal import writer as writer_module
from strobe.journal.descriptor import create_segment
from strobe.journal.entry import Noted, Row
from strobe.journal.reader import JournalReader, SegmentReader
from tests.journal.test_writer_reader import make_writer

Handler = Callable[[], object]


class Interrupted:
    """An encoder in whose middle a signal handler runs, once for each handler armed."""

    def __init__(self) -> None:
        self.handlers: list[Handler] = []

    def __call__(self, item: Any) -> bytes:
        if self.handlers:
            self.handlers.pop()()
        return value.encode(item)


def rows(directory: Path) -> list[dict[str, Any]]:
    reader = JournalReader(directory)
    found = [dict(entry.items()) for _, entry in reader.poll() if isinstance(entry, Row)]
    assert not reader.damages, reader.damages
    return found


def test_new_keys_inside_new_keys_keep_their_names_apart(tmp_path: Path) -> None:
    encode = Interrupted()
    writer = make_writer(tmp_path, encode=encode)
    encode.handlers = [lambda: writer.row({"inner": 1}, 1)]
    writer.row({"outer": 0}, 0)
    writer.row({"inner": 2}, 2)
    writer.row({"outer": 3}, 3)
    writer.close()
    assert rows(writer.directory) == [{"inner": 1}, {"outer": 0}, {"inner": 2}, {"outer": 3}]


def test_a_row_is_not_cut_off_from_its_names_by_a_rotation_inside_it(tmp_path: Path) -> None:
    encode = Interrupted()
    writer = make_writer(tmp_path, encode=encode, check_ns=0)
    writer.row({"first": 0}, 0)
    writer.row({"second": 1}, 1)

    def handler() -> None:
        writer._segment_bytes = 1
        writer.row({"second": 2}, 2)

    encode.handlers = [handler]
    writer.row({"first": 3}, 3)
    writer.row({"first": 4}, 4)
    writer.close()
    assert rows(writer.directory) == [{"first": 0}, {"second": 1}, {"second": 2}, {"first": 3}, {"first": 4}]
    assert len(list(writer.directory.iterdir())) > 1, "it is made up for by the next row"


def test_ctrl_c_inside_a_row_is_no_missing_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = make_writer(tmp_path)
    writer.row({"x": 0}, 0)

    def interrupt(*args: object) -> int:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(writer_module, "crc32", interrupt)
    with pytest.raises(KeyboardInterrupt):
        writer.row({"x": 1}, 1)
    writer.row({"x": 2}, 2)
    writer.close()
    assert rows(writer.directory) == [{"x": 0}, {"x": 2}]


def test_the_seal_still_tells_of_a_missing_record(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    writer.event(ev.Started(time_ns=1))
    offsets = []
    for step in range(3):
        offsets.append(os.path.getsize(writer.segment))
        writer.row({"x": step}, step)
    path = writer.segment
    writer.close()
    content = path.read_bytes()
    path.write_bytes(content[: offsets[1]] + content[offsets[2] :])
    reader = SegmentReader(path)
    list(reader.poll())
    assert "1 records are missing" in reader.damages[0].reason


def test_a_reader_that_saw_the_names_of_a_rejected_row_reads_on(tmp_path: Path) -> None:
    writer = make_writer(tmp_path, warn=[].append)
    writer.row({"x": 0}, 0)
    reader = JournalReader(writer.directory)
    list(reader.poll())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(writer.segment) + 50, hard))
    try:
        real_truncate = os.ftruncate

        def look_first(fd: int, size: int) -> None:
            list(reader.poll())  # the names are in whole, the row is not
            real_truncate(fd, size)

        os.ftruncate = look_first
        writer.row({"a": "long enough not to fit" * 3}, 1)
    finally:
        os.ftruncate = real_truncate
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    writer.row({"b": 2}, 2)
    writer.row({"a": 3}, 3)
    writer.close()
    found = [dict(entry.items()) for _, entry in reader.poll() if isinstance(entry, Row)]
    assert not reader.damages
    assert found == [{"b": 2}, {"a": 3}]


def test_a_lost_file_is_replaced_though_the_clock_went_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 10**18
    monkeypatch.setattr(writer_module, "time_ns", lambda: now)
    writer = make_writer(tmp_path, warn=[].append)
    writer.row({"x": 0}, 0)
    now -= 3600 * 10**9
    os.close(writer._fd)
    for step in range(1, 4):
        now += 10**9
        writer.row({"x": step}, step)
    writer.close()
    assert rows(writer.directory) == [{"x": 0}, {"x": 2}, {"x": 3}]


@pytest.mark.parametrize("fault", [errno.EFBIG, errno.ENOTCONN])
def test_a_file_that_takes_no_more_is_left_for_a_new_one_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int
) -> None:
    writer = make_writer(tmp_path, warn=[].append)
    writer.row({"x": 0}, 0)
    full, real_write = writer._fd, os.write

    def write(fd: int, data: bytes) -> int:
        if fd == full and data:
            raise OSError(fault, os.strerror(fault))
        return real_write(fd, data)

    monkeypatch.setattr(os, "write", write)
    writer._append = lambda fd, record, length: -1
    for step in range(1, 4):
        writer.row({"x": step}, step)
    writer.close()
    assert rows(writer.directory) == [{"x": 0}, {"x": 2}, {"x": 3}]
    assert writer.rejected == 1


def test_nothing_follows_a_torn_record_that_cannot_be_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = make_writer(tmp_path, warn=[].append)
    writer.row({"x": 0}, 0)
    real_open, real_append, real_write = create_segment, writer._append, os.write
    is_full = True

    def no_room(*args: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def append_part(fd: int, record: bytes, length: int) -> int:
        return real_write(fd, record[:5]) if is_full else real_append(fd, record, length)

    monkeypatch.setattr(os, "ftruncate", no_room)
    monkeypatch.setattr(os, "write", no_room)
    monkeypatch.setattr(writer_module, "create_segment", no_room)
    writer._append = append_part
    writer.row({"x": 1}, 1)
    monkeypatch.setattr(os, "write", real_write)
    is_full = False
    writer.row({"x": 2}, 2)
    monkeypatch.setattr(writer_module, "create_segment", real_open)
    writer._check_at = 0
    writer.row({"x": 3}, 3)
    writer.row({"x": 4}, 4)
    writer.close()
    assert rows(writer.directory) == [{"x": 0}, {"x": 4}]
    assert writer.rejected == 3


@pytest.mark.parametrize("failing", ["close", "unlink", "open", "fsync"])
def test_no_fault_of_the_system_gets_out_of_the_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    writer = make_writer(tmp_path, warn=[].append, check_ns=0, segment_bytes=1)
    writer.row({"x": 0}, 0)
    real: Callable[..., Any] = getattr(os, failing)

    def fail(*args: Any, **options: Any) -> None:
        if failing == "close":
            real(*args)
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, failing, fail)
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: fail() if failing == "unlink" else real_write(fd, data))
    for step in range(1, 4):
        writer.row({"x": step}, step)
    writer.event(ev.Alert(time_ns=1, title="t", text=""))
    writer.sync()
    writer.close()
    monkeypatch.undo()
    assert rows(writer.directory) == [{"x": step} for step in range(4)]


def test_a_stolen_descriptor_is_neither_sealed_nor_closed(tmp_path: Path) -> None:
    writer = make_writer(tmp_path, warn=[].append)
    writer.row({"x": 0}, 0)
    number = writer._fd
    os.close(number)
    theirs = os.open(tmp_path / "theirs", os.O_RDWR | os.O_CREAT)
    assert theirs == number, "the lowest free number is given out first"
    writer.close(ev.Ended(time_ns=1, state="finished"))
    assert os.fstat(theirs).st_size == 0
    os.close(theirs)
    events = [entry.event for _, entry in JournalReader(writer.directory).poll() if isinstance(entry, Noted)]
    assert events == [ev.Ended(time_ns=1, state="finished")]


def test_a_directory_that_vanished_just_before_the_end_is_written_anew(tmp_path: Path) -> None:
    writer = make_writer(tmp_path, warn=[].append)
    writer.row({"x": 0}, 0)
    shutil.rmtree(writer.directory)
    writer.close(ev.Ended(time_ns=1, state="finished"))
    assert rows(writer.directory) == [{"x": 0}]


def test_text_that_is_no_unicode_is_spelled_out(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    writer.row({"caf\udce9": 1, "b": 2}, 0)
    writer.event(ev.Started(time_ns=1, attributes={"program": "/tmp/caf\udce9.py", "args": ["\udce9"]}))
    writer.close()
    assert rows(writer.directory) == [{"caf\\udce9": 1, "b": 2}]
    entries = [entry for _, entry in JournalReader(writer.directory).poll() if isinstance(entry, Noted)]
    assert isinstance(entries[0].event, ev.Started)
    assert entries[0].event.attributes == {"program": "/tmp/caf\\udce9.py", "args": ["\\udce9"]}


def test_events_that_came_while_the_disk_was_full_are_recorded_when_there_is_room(tmp_path: Path) -> None:
    blocker = tmp_path / "runs"
    blocker.write_text("a file where a directory should be")
    writer = make_writer(tmp_path, warn=[].append, check_ns=0)
    happened: list[ev.Event] = [
        ev.Started(time_ns=1, attributes={"name": "n"}),
        ev.Config(time_ns=2, changes={"lr": 1}),
        ev.Config(time_ns=3, changes={"lr": 2}),
    ]
    for event in happened:
        writer.event(event)
    writer.event(ev.Console(time_ns=4, stream="stdout", text="not kept\n"))
    assert writer.rejected == 4
    blocker.unlink()
    writer.row({"x": 1}, 1)
    writer.row({"x": 2}, 2)
    writer.close()
    events = [entry.event for _, entry in JournalReader(writer.directory).poll() if isinstance(entry, Noted)]
    assert events == happened
    assert rows(writer.directory) == [{"x": 2}]
    assert writer.rejected == 2, "the console text and the first row"


def test_events_that_the_disk_does_not_take_do_not_pile_up(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file where a directory should be")
    writer = make_writer(tmp_path, warn=[].append)
    for _ in range(40):
        writer.event(ev.Alert(time_ns=1, title="t", text="x" * 100_000))
    assert sum(map(len, writer._owed)) <= 1 << 20
    assert writer.rejected == 40


def test_a_file_system_that_renumbers_its_files_is_no_thief(tmp_path: Path) -> None:
    writer = make_writer(tmp_path, warn=[].append, check_ns=0)
    writer.row({"x": 0}, 0)
    before = len(os.listdir("/proc/self/fd"))
    for step in range(1, 6):
        writer._file_id = (0, step)
        writer.row({"x": step}, step)
    assert len(os.listdir("/proc/self/fd")) == before
    writer.close()
    assert len(list(writer.directory.iterdir())) == 1
    assert rows(writer.directory) == [{"x": step} for step in range(6)]
