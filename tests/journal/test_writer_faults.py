"""Faults of the disk: the caller goes on, losses are counted, recording resumes, no torn record hides later ones."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from strobe.home import Home, RunPath
from strobe.journal import Header, Replay, Writer
from strobe.journal.entry import Row
from strobe.journal.reader import JournalReader
from tests.journal.test_writer_reader import make_writer, read

EVERY_ROW = {"check_ns": 0}


def steps(directory: Path) -> list[int]:
    reader = JournalReader(directory)
    found = [entry.step for _, entry in reader.poll() if isinstance(entry, Row)]
    assert not reader.damages, reader.damages
    return found


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 64 KiB; needs the right to mount."""
    mount = tmp_path / "small"
    mount.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(mount)], capture_output=True)
    if done.returncode:
        pytest.skip("mounting a small file system needs root")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=True)


@pytest.mark.slow
def test_disk_full_counts_rejected_rows_and_resumes_when_there_is_room(small_disk: Path) -> None:
    warnings: list[str] = []
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 40_000)
    writer = make_writer(small_disk / "home", warn=warnings.append)
    row = {"text": "y" * 700}
    for step in range(100):
        writer.row(row, step)
    assert 0 < writer.rejected < 100
    assert len(warnings) == 1
    assert "No space left" in warnings[0]
    recorded = 100 - writer.rejected
    ballast.unlink()
    for step in range(100, 110):
        writer.row(row, step)
    writer.close()
    assert steps(writer.directory) == [*range(recorded), *range(100, 110)]
    assert len(warnings) == 1


@pytest.fixture
def file_size_limit() -> Iterator[Any]:
    """Limit the size of files; the kernel then cuts writes short and sends SIGXFSZ, which Python ignores."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN

    def limit(size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))

    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("room", range(1, 120, 7))
def test_a_write_cut_short_leaves_no_torn_record(tmp_path: Path, file_size_limit: Any, room: int) -> None:
    writer = make_writer(tmp_path, warn=[].append)
    writer.row({"x": 0.5}, 0)
    size = os.path.getsize(writer.segment)
    file_size_limit(size + room)
    for step in range(1, 6):
        writer.row({"x": 0.5}, step)
    file_size_limit(resource.RLIM_INFINITY)
    rejected = writer.rejected
    assert rejected > 0
    writer.row({"x": 0.5}, 6)
    writer.close()
    found = steps(writer.directory)
    assert (found[0], found[-1]) == (0, 6)
    assert len(found) == 7 - rejected


def test_a_vanished_directory_is_written_anew_with_everything(tmp_path: Path) -> None:
    warnings: list[str] = []
    writer = make_writer(tmp_path, warn=warnings.append, **EVERY_ROW)
    for step in range(3):
        writer.row({"x": step}, step)
    shutil.rmtree(writer.directory)
    for step in range(3, 6):
        writer.row({"x": step}, step)
    writer.close()
    assert steps(writer.directory) == [0, 1, 2, 3, 4, 5]
    assert writer.rejected == 0
    assert ["vanished" in warning for warning in warnings] == [True]


def test_a_directory_that_cannot_be_made_is_tried_again(tmp_path: Path) -> None:
    blocker = tmp_path / "runs"
    blocker.write_text("a file where a directory should be")
    warnings: list[str] = []
    writer = make_writer(tmp_path, warn=warnings.append, **EVERY_ROW)
    writer.row({"x": 0}, 0)
    assert writer.rejected == 1
    blocker.unlink()
    writer.row({"x": 1}, 1)
    writer.row({"x": 2}, 2)
    writer.close()
    assert steps(writer.directory)[-1] == 2
    assert len(warnings) == 1


def test_a_lost_file_handle_is_replaced_by_a_new_segment(tmp_path: Path) -> None:
    writer = make_writer(tmp_path, warn=[].append, **EVERY_ROW)
    writer.row({"x": 0}, 0)
    os.close(writer._fd)
    writer.row({"x": 1}, 1)
    writer.row({"x": 2}, 2)
    writer.close()
    assert steps(writer.directory) == [0, 2]
    assert writer.rejected == 1


def test_a_file_that_took_over_our_descriptor_is_left_alone(tmp_path: Path) -> None:
    writer = make_writer(tmp_path, warn=[].append, check_ns=10**18)
    writer.row({"x": 0}, 0)
    os.close(writer._fd)
    with open(tmp_path / "theirs", "w+b") as theirs:
        if theirs.fileno() != writer._fd:
            os.dup2(theirs.fileno(), writer._fd)
        writer._check(0)
        writer.row({"x": 1}, 1)
        assert os.path.getsize(tmp_path / "theirs") == 0
    writer.close()
    assert steps(writer.directory) == [0, 1]


def test_nothing_is_recorded_after_close(tmp_path: Path) -> None:
    writer = make_writer(tmp_path)
    writer.close()
    writer.row({"x": 1}, 0)
    assert writer.rejected == 1


def test_segments_rotate_by_size_and_name_their_successor(tmp_path: Path) -> None:
    writer = make_writer(tmp_path, segment_bytes=500, **EVERY_ROW)
    for step in range(60):
        writer.row({"x": float(step), "name": "abc"}, step)
    writer.close()
    segments = sorted(writer.directory.iterdir())
    assert len(segments) > 3
    for path, successor in zip(segments, [*segments[1:], None], strict=True):
        _, reader = read(path)
        assert reader.seal is not None
        assert reader.seal.successor == (successor.name if successor else None)
    assert steps(writer.directory) == list(range(60))


def test_sequence_numbers_stay_unique_over_segments(tmp_path: Path) -> None:
    writer = make_writer(tmp_path, segment_bytes=300, **EVERY_ROW)
    given = [writer.row({"x": step}, step) for step in range(40)]
    writer.close()
    found = [entry.sequence for _, entry in JournalReader(writer.directory).poll() if isinstance(entry, Row)]
    assert found == given
    assert len(set(given)) == 40


def test_ever_new_key_sets_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strobe.journal.writer._MAX_KEY_SETS", 8)
    writer = make_writer(tmp_path)
    for step in range(50):
        writer.row({f"key_{step}": step}, step)
    assert len(writer._key_sets) <= 8
    writer.close()
    assert steps(writer.directory) == list(range(50))


def test_many_writers_of_one_run_add_up(tmp_path: Path) -> None:
    run_dir = Home(tmp_path).run_dir(RunPath("local", "p", "r"))
    writers = [
        Writer(run_dir.journal, Header(entity="local", project="p", run="r", writer=f"w{n}", kind="rank"))
        for n in range(3)
    ]
    for step in range(5):
        for number, writer in enumerate(writers):
            writer.row({f"rank{number}/loss": step}, step)
    replay = Replay(run_dir)
    replay.refresh()
    assert [set(row) & {"rank0/loss", "rank1/loss", "rank2/loss"} for row in replay.rows()] == [
        {"rank0/loss", "rank1/loss", "rank2/loss"}
    ] * 5


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were flushed, in order."""
    names: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda fd: names.append(os.path.basename(os.readlink(f"/proc/self/fd/{fd}"))))
    return names


def test_fsync_always_reaches_the_disk_with_every_row(tmp_path: Path, flushed: list[str]) -> None:
    writer = make_writer(tmp_path, fsync="always")
    for step in range(3):
        writer.row({"x": step}, step)
        assert len(flushed) == step + 2, "the names of the keys are flushed once, too"


@pytest.mark.parametrize("policy", ["agent", "finish"])
def test_fsync_at_finish_reaches_every_segment(tmp_path: Path, flushed: list[str], policy: str) -> None:
    writer = make_writer(tmp_path, fsync=policy, segment_bytes=300, **EVERY_ROW)
    for step in range(40):
        writer.row({"x": step}, step)
    assert flushed == []
    writer.close()
    assert flushed == [path.name for path in sorted(writer.directory.iterdir())]
    assert len(flushed) > 2


def test_fsync_never_is_nobodys(tmp_path: Path, flushed: list[str]) -> None:
    writer = make_writer(tmp_path, fsync="never", segment_bytes=300, **EVERY_ROW)
    for step in range(40):
        writer.row({"x": step}, step)
    writer.sync()
    writer.close()
    assert flushed == []


def test_a_flush_that_fails_is_said_and_doubles_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def fail(fd: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    writer = make_writer(tmp_path, fsync="always", warn=said.append)
    for step in range(3):
        writer.row({"x": step}, step)
    writer.close()
    assert len(said) == 1
    assert "Input/output error" in said[0]
    assert steps(writer.directory) == [0, 1, 2]
