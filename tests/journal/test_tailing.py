"""Readers that come back: nothing is skipped by stopping early, by a fault that passes, or by a clock set back."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from strobe.errors import JournalError
from strobe.home import Home, RunDir, RunPath
from strobe.journal import Header, Replay, Writer
from strobe.journal import event as ev
from strobe.journal import reader as reader_module
from strobe.journal import repair as repair_module
from strobe.journal import writer as writer_module
from strobe.journal.entry import Row
from strobe.journal.reader import JournalReader, SegmentReader
from strobe.journal.repair import repair
from strobe.journal.skim import Skim
from tests.journal.test_writer_reader import make_writer, read


def run_dir_of(tmp_path: Path) -> RunDir:
    return Home(tmp_path).run_dir(RunPath("local", "p", "r"))


def steps(found: Any) -> list[int]:
    return [entry.step for _, entry in found if isinstance(entry, Row)]


def test_a_reader_that_was_left_early_goes_on_where_it_was_left(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    for step in range(100):
        writer.row({"x": step}, step)
    writer.close()
    reader = JournalReader(writer.directory)
    assert steps(islice(reader.poll(), 10)) == list(range(10))
    assert steps(reader.poll()) == list(range(10, 100))
    assert steps(reader.poll()) == []
    assert not reader.damages


def test_a_replay_that_ran_out_of_time_reads_the_rest_later(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    for step in range(3000):
        writer.row({"x": step}, step)
    writer.close()
    replay = Replay(run_dir_of(tmp_path))
    replay.refresh(keep_going=lambda: False)
    assert replay.is_partial
    while replay.is_partial:
        replay.refresh(keep_going=lambda: False)
    assert (replay.num_rows, replay.metrics["x"].sum) == (3000, sum(range(3000)))


def test_a_segment_that_could_not_be_read_once_is_read_when_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make_writer(tmp_path)
    writer.row({"x": 0}, 0)
    reader = JournalReader(writer.directory)
    assert steps(reader.poll()) == [0]
    writer.row({"x": 1}, 1)

    def stale(*args: object, **options: object) -> None:
        raise OSError(116, "Stale file handle")

    monkeypatch.setattr(reader_module, "open", stale, raising=False)
    assert steps(reader.poll()) == []
    assert "Stale" in reader.damages[0][1].reason
    monkeypatch.undo()
    assert steps(reader.poll()) == [1]
    assert not reader.damages


def test_a_segment_removed_while_it_is_looked_for_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = make_writer(tmp_path)
    writer.row({"x": 0}, 0)
    reader = JournalReader(writer.directory)
    monkeypatch.setattr(reader_module, "list_segments", lambda directory: [directory / "0001-gone-000000.strobe"])
    assert steps(reader.poll()) == []
    assert not reader.damages


def test_a_value_nested_deeper_than_python_goes_does_not_hide_the_others(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    deep: dict[str, Any] = {}
    for _ in range(900):
        deep = {"a": deep}
    writer.row({"deep": deep, "x": 1}, 0)
    writer.row({"x": 2}, 1)
    writer.close()

    def in_a_deep_stack(depth: int) -> list[dict[str, Any]]:
        if depth:
            return in_a_deep_stack(depth - 1)
        replay = Replay(run_dir_of(tmp_path))
        replay.refresh()
        assert replay.metrics["x"].last == 2
        return list(replay.rows(["x"]))

    assert [row["x"] for row in in_a_deep_stack(150)][-1] == 2


def test_later_wins_though_the_clock_went_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 10**18
    monkeypatch.setattr(writer_module, "time_ns", lambda: now)
    writer = make_writer(tmp_path, segment_bytes=1, check_ns=0)
    writer.event(ev.Started(time_ns=now))
    writer.row({"x": 1, "y": 1}, 5)
    now -= 3600 * 10**9
    writer.row({"x": 2}, 5)
    writer.event(ev.Summary(time_ns=now, changes={"y": "by hand"}))
    now += 1
    writer.row({"x": 3}, 6)
    writer.close()
    assert len(list(writer.directory.iterdir())) > 1
    replay = Replay(run_dir_of(tmp_path))
    replay.refresh()
    assert [(row["_step"], row["x"]) for row in replay.rows()] == [(5, 2), (6, 3)]
    assert [row["_timestamp"] for row in replay.rows()] == [10**9 - 3600, 10**9 - 3600], "shown as it was recorded"
    assert replay.summary == {"x": 3, "y": "by hand"}
    assert replay.metrics["x"].last == 3


def test_ever_new_keys_do_not_pile_up_as_rows(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    for step in range(12_000):
        writer.row({f"key_{step}": step}, step)
    writer.close()
    replay = Replay(run_dir_of(tmp_path))
    replay.refresh()
    assert sum(len(batch.rows) for batch in replay._book._batches.values()) <= 10_000
    assert all(not segment._keys for segment in replay.journal.segments.values())
    assert len(replay.metrics) == 12_000


def test_repair_works_where_files_cannot_be_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = make_writer(tmp_path)
    writer.row({"x": 0}, 0)
    path = writer.segment
    writer.forget()
    content = path.read_bytes()
    path.write_bytes(content + b"\xa5")

    def refuse(*args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    (report,) = repair(path)
    assert report.backup is not None
    assert report.backup.read_bytes() == content + b"\xa5"
    assert path.read_bytes() == content


def test_repair_keeps_its_hands_off_a_segment_that_is_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from strobe.identity import boot_id, host_id, pid_namespace, process_started

    pid = os.getpid()
    writer = make_writer(tmp_path)
    writer.event(
        ev.Started(
            time_ns=1,
            pid=pid,
            pid_started=process_started(pid) or 0.0,
            host=host_id(),
            boot_id=boot_id(),
            pid_namespace=pid_namespace(),
        )
    )
    writer.row({"x": 0}, 0)
    with open(writer.segment, "ab") as stream:
        stream.write(b"\xa5")
    with pytest.raises(JournalError, match="is being written"):
        repair(writer.segment)
    assert not list(writer.directory.glob("*.bak"))
    monkeypatch.setattr(repair_module, "is_alive", lambda *args: False)
    assert repair(writer.segment)[0].is_changed
    found, reader = read(writer.segment)
    assert found == [({"x": 0}, 0)]
    assert not reader.damages
    assert isinstance(reader, SegmentReader)
    writer.forget()


def test_a_second_writer_is_not_moved_by_the_clock_of_the_first(tmp_path: Path) -> None:
    directory = run_dir_of(tmp_path).journal
    for name in ("a", "b"):
        writer = Writer(directory, Header(entity="local", project="p", run="r", writer=name, kind="rank"))
        writer.row({"x": name}, 0)
        writer.close()
    replay = Replay(run_dir_of(tmp_path))
    replay.refresh()
    assert [row["x"] for row in replay.rows()] == ["b"]


def test_a_segment_can_be_read_wherever_it_was_copied_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = make_writer(tmp_path)
    writer.row({"x": 0}, 0)
    path = writer.segment
    writer.forget()
    monkeypatch.setattr(Path, "absolute", lambda self: Path("/") / self.name)
    found, reader = read(path)
    assert found == [({"x": 0}, 0)]
    assert reader.header.run == "r"
    path.write_bytes(path.read_bytes()[:8] + b"\0" * 20)
    (report,) = repair(path)
    assert report.is_changed


def test_a_quick_look_at_a_row_nested_too_deep_is_a_look_at_all_the_rest(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    writer.event(ev.Started(time_ns=1, attributes={"name": "n"}))
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]
    writer.row({"deep": deep}, 7)
    writer.close()

    def in_a_deep_stack(depth: int) -> Skim:
        return in_a_deep_stack(depth - 1) if depth else Skim(run_dir_of(tmp_path))

    assert in_a_deep_stack(150).attributes == {"name": "n"}
