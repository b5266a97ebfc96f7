"""The lock: one holder, and no belief in a file that is no longer there."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from strobe.agent import lock as lock_module
from strobe.agent.lock import Lock


def test_one_holder(tmp_path: Path) -> None:
    first, second = Lock(str(tmp_path / "l")), Lock(str(tmp_path / "l"))
    assert first.acquire()
    assert not second.acquire()
    first.release()
    assert second.acquire()
    second.release()
    assert not list(tmp_path.iterdir())


def test_a_deleted_file_is_no_longer_held(tmp_path: Path) -> None:
    lock = Lock(str(tmp_path / "l"))
    assert lock.acquire()
    (tmp_path / "l").unlink()
    assert not lock.is_held()
    other = Lock(str(tmp_path / "l"))
    assert other.acquire()
    lock.release()
    assert other.is_held(), "releasing a lost lock must not remove the new holder's file"
    other.release()


def test_a_file_replaced_while_locking_is_locked_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "l"
    real = lock_module._try_lock
    calls: list[int] = []

    def replace_once(fd: int) -> bool:
        if not calls:
            path.unlink()
        calls.append(fd)
        return real(fd)

    monkeypatch.setattr(lock_module, "_try_lock", replace_once)
    lock = Lock(str(path))
    assert lock.acquire()
    assert lock.is_held()
    assert len(calls) == 2
    lock.release()


def test_without_locks_in_the_home_the_temporary_directory_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = tmp_path / "tmp"
    local.mkdir()
    monkeypatch.setenv("TMPDIR", str(local))
    real = lock_module._try_lock
    calls: list[int] = []

    def refuse_home(fd: int) -> bool:
        calls.append(fd)
        if len(calls) == 1:
            raise OSError(errno.ENOLCK, "no locks available")
        return real(fd)

    monkeypatch.setattr(lock_module, "_try_lock", refuse_home)
    lock = Lock(str(tmp_path / "l"))
    assert lock.acquire()
    assert Path(lock.path).parent == local
    lock.release()


def test_an_unwritable_place_raises(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        Lock(str(tmp_path / "file" / "l")).acquire()
