"""Media files: whole or not there, named safely, stored once, and safe over kill and fork."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.data.filename import MAX_PIECE, safe_piece, safe_suffix
from strobe.data.files import PARTIAL, DirectoryFiles


def stored(files: DirectoryFiles) -> list[str]:
    return sorted(str(path.relative_to(files.directory)) for path in files.directory.rglob("*") if path.is_file())


def test_a_path_says_kind_key_step_and_digest(files: DirectoryFiles) -> None:
    path = files.write("images", "train/sample", 7, "png", b"pixels")
    kind, name = path.rsplit("/", 1)
    assert kind == "media/images"
    assert name.startswith("train_sample_7_")
    assert len(name) == len("train_sample_7_") + 20 + len(".png")
    assert files.read(path) == b"pixels"
    assert stored(files) == [path]


def test_equal_content_is_stored_once(files: DirectoryFiles) -> None:
    first = files.write("images", "a", 0, "png", b"same")
    assert files.write("images", "a", 0, "png", b"same") == first
    assert files.write("images", "b", 9, "png", b"same") == first
    assert files.write("html", "b", 9, "html", b"same") != first
    again = DirectoryFiles(files.directory)
    assert again.write("images", "a", 0, "png", b"same") == first
    assert len(stored(files)) == 2


def test_content_whose_file_was_deleted_is_written_anew(files: DirectoryFiles) -> None:
    first = files.write("images", "a", 0, "png", b"same")
    (files.directory / first).unlink()
    assert files.read(files.write("images", "b", 1, "png", b"same")) == b"same"


def test_memory_of_contents_is_bounded(files: DirectoryFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strobe.data.files._REMEMBERED", 3)
    for step in range(10):
        files.write("images", "a", step, "png", b"%d" % step)
    assert len(files._known) <= 3
    assert len(stored(files)) == 10


def test_a_vanished_directory_comes_back(files: DirectoryFiles) -> None:
    import shutil

    files.write("images", "a", 0, "png", b"one")
    shutil.rmtree(files.directory)
    path = files.write("images", "a", 1, "png", b"two")
    assert files.read(path) == b"two"


def test_a_full_disk_is_an_error_and_leaves_nothing(files: DirectoryFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, content: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            files.write("images", "a", 0, "png", b"one")
    assert stored(files) == []
    assert files.read(files.write("images", "a", 0, "png", b"one")) == b"one"


def test_short_writes_are_continued(files: DirectoryFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, content: real(fd, bytes(content[:3])))
        path = files.write("images", "a", 0, "png", b"0123456789")
    assert files.read(path) == b"0123456789"


def test_copy_takes_what_the_file_holds_now(files: DirectoryFiles, tmp_path: Path) -> None:
    source = tmp_path / "plot.png"
    source.write_bytes(b"first")
    first = files.copy("images", "plot", 0, source)
    with open(source, "r+b") as file:  # into the same file, as savefig does
        file.write(b"other")
    second = files.copy("images", "plot", 1, source)
    assert (files.read(first), files.read(second)) == (b"first", b"other")
    assert files.copy("images", "plot", 2, source) == second


def test_copy_and_write_agree_on_names(files: DirectoryFiles, tmp_path: Path) -> None:
    source = tmp_path / "points.pts.json"
    source.write_bytes(b"[]")
    assert files.copy("object3D", "p", 0, source) == files.write("object3D", "p", 0, "pts.json", b"[]")


def test_copy_of_a_missing_file_leaves_nothing(files: DirectoryFiles, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        files.copy("images", "a", 0, tmp_path / "none.png")
    assert stored(files) == []


def test_replace_changes_a_file_and_makes_none(files: DirectoryFiles) -> None:
    path = files.write("images", "a", 0, "png", b"long content")
    files.replace(path, b"short")
    assert files.read(path) == b"short"
    files.replace("media/images/gone.png", b"short")
    assert stored(files) == [path]


def test_leftovers_of_killed_processes_go_after_a_day(files: DirectoryFiles) -> None:
    partial = files.directory / PARTIAL
    partial.mkdir(parents=True)
    (partial / "123-0").write_bytes(b"half")
    (partial / "124-0").write_bytes(b"half")
    long_ago = time.time() - 2 * 24 * 3600
    os.utime(partial / "123-0", (long_ago, long_ago))
    files.write("images", "a", 0, "png", b"one")
    assert [path.name for path in partial.iterdir()] == ["124-0"]


def test_many_threads_write_at_once(files: DirectoryFiles) -> None:
    paths: list[str] = []

    def work(number: int) -> None:
        paths.extend(files.write("images", f"k{number}", i, "png", b"%d/%d" % (number, i)) for i in range(20))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(paths)) == 80
    assert stored(files) == sorted(paths)


@given(st.text(max_size=400))
def test_any_key_gives_a_safe_name(key: str) -> None:
    piece = safe_piece(key)
    assert piece
    assert len(piece.encode()) <= MAX_PIECE + 1
    assert not set(piece) & set('/\\:*?"<>|\0\n')
    assert not piece.startswith(".")
    assert safe_suffix(key)


@pytest.mark.parametrize("key", ["../../etc/passwd", "\ud800", "CON", "con.x", "漢字/ключ", "a" * 1000, "ü" * 500, ""])
def test_odd_keys_can_be_written(files: DirectoryFiles, key: str) -> None:
    path = files.write("images", key, 0, "png", b"x")
    assert (files.directory / path).resolve().is_relative_to(files.directory.resolve())
    assert files.read(path) == b"x"


def test_long_keys_keep_their_end(files: DirectoryFiles) -> None:
    assert safe_piece("layer." * 100 + "weight").endswith("weight")


def wait_for(gate: threading.Event) -> None:
    assert gate.wait(10)


def leave_trace(directory: Path) -> None:
    (directory / f"parent-{os.getpid()}").touch()


def test_later_runs_in_order_and_drain_waits(files: DirectoryFiles) -> None:
    gate, done = threading.Event(), list[int]()
    files.later(partial(wait_for, gate))
    for number in range(5):
        files.later(partial(done.append, number))
    assert not files.drain(0.01)
    gate.set()
    assert files.drain(10)
    assert done == [0, 1, 2, 3, 4]
    files.later(lambda: done.append(5))
    assert files.drain(10)
    assert done[-1] == 5


def test_drain_with_nothing_to_do_is_immediate(files: DirectoryFiles) -> None:
    assert files.drain(0)


def test_failing_work_is_counted_and_the_next_runs(files: DirectoryFiles) -> None:
    done: list[int] = []

    def fail() -> None:
        raise OSError(errno.ENOSPC, "full")

    files.later(fail)
    files.later(lambda: done.append(1))
    assert files.drain(10)
    assert done == [1]
    assert files._side.failed == 1


def test_a_bug_in_work_is_shown_and_does_not_block_drain(
    files: DirectoryFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_shown = threading.Event()
    monkeypatch.setattr(threading, "excepthook", lambda _: is_shown.set())

    def broken() -> None:
        raise LookupError("a bug")

    files.later(broken)
    assert is_shown.wait(10)
    done: list[int] = []
    files.later(lambda: done.append(1))
    assert files.drain(10)
    assert done == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_its_own_side_thread_and_none_of_the_parents_work(
    files: DirectoryFiles, tmp_path: Path
) -> None:
    gate = threading.Event()
    files.later(partial(wait_for, gate))
    files.later(partial(leave_trace, tmp_path))
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            path = files.write("images", "child", 0, "png", b"child")
            files.later((tmp_path / "child").touch)
            code = 0 if files.drain(10) and files.read(path) == b"child" else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    gate.set()
    assert files.drain(10)
    assert (tmp_path / "child").exists()
    assert [path.name for path in tmp_path.glob("parent-*")] == [f"parent-{os.getpid()}"]


_WRITER = """
import sys
from strobe.data.files import DirectoryFiles
files = DirectoryFiles(sys.argv[1])
step = 0
while True:
    content = bytes([step % 256]) * 3_000_000
    print(files.write("images", "k", step, "bin", content), flush=True)
    step += 1
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_kill_never_leaves_a_truncated_file_under_its_name(tmp_path: Path) -> None:
    files = DirectoryFiles(tmp_path)
    for attempt in range(5):
        process = subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        acknowledged = [process.stdout.readline().strip()]
        time.sleep(0.01 + attempt * 0.007)
        process.send_signal(signal.SIGKILL)
        acknowledged += [line.strip() for line in process.stdout if line.endswith("\n")]
        process.wait()
        process.stdout.close()
        assert all(files.read(path) for path in acknowledged)
        assert {path.stat().st_size for path in (tmp_path / "media").rglob("*.bin")} == {3_000_000}
