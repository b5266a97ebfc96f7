"""File systems that are not a local disk with room: network ones, read-only ones, and each error they answer with."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from strobe.journal import append
from tests.journal.test_writer_faults import steps
from tests.journal.test_writer_reader import make_writer


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "lustre", "ceph", "fuse.sshfs", "9p", "beegfs"])
def test_on_a_network_file_system_the_gil_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(append, "file_system", lambda directory: kind)
    assert append.is_network(tmp_path)
    assert append.choose_append(tmp_path) is append._append_releasing_gil
    writer = make_writer(tmp_path)
    for step in range(5):
        writer.row({"x": step}, step)
    writer.close()
    assert (steps(writer.directory), writer.rejected) == ([0, 1, 2, 3, 4], 0)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", ""])
def test_on_a_local_file_system_it_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(append, "file_system", lambda directory: kind)
    assert append.choose_append(tmp_path) is not append._append_releasing_gil


def test_the_kind_of_this_file_system_is_found(tmp_path: Path) -> None:
    listed = {line.split(" - ")[1].split()[0] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    assert append.file_system(tmp_path) in listed
    assert append.file_system(tmp_path / "absent") == ""


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.ESTALE, errno.EIO])
@pytest.mark.parametrize("kind", ["ext4", "nfs4"])
def test_every_error_of_the_disk_is_counted_warned_of_once_and_over_when_it_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, kind: str
) -> None:
    monkeypatch.setattr(append, "file_system", lambda directory: kind)
    warnings: list[str] = []
    writer = make_writer(tmp_path, warn=warnings.append, check_ns=0)
    writer.row({"x": 0}, 0)

    def fail(*args: object) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as broken:
        # The disk refuses: the quick call says -1, the careful one names the error, no new segment can be had either.
        broken.setattr(writer, "_append", lambda fd, record, length: -1)
        broken.setattr(os, "write", fail)
        broken.setattr(os, "open", fail)
        for step in range(1, 4):
            writer.row({"x": step}, step)
    for step in range(4, 7):
        writer.row({"x": step}, step)
    writer.close()
    found = steps(writer.directory)
    assert found[0] == 0
    assert found[-1] == 6
    assert len(found) + writer.rejected == 7
    assert [os.strerror(code) in warning for warning in warnings] == [True]


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A real file system mounted read-only; needs the right to mount."""
    mount = tmp_path / "sealed"
    mount.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(mount)], capture_output=True).returncode:
        pytest.skip("mounting needs root")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=True)


@pytest.mark.slow
def test_a_read_only_file_system_is_recorded_to_once_it_is_writable(read_only: Path) -> None:
    warnings: list[str] = []
    writer = make_writer(read_only / "home", warn=warnings.append, check_ns=0)
    writer.row({"x": 0}, 0)
    assert writer.rejected == 1
    assert ["Read-only file system" in warning for warning in warnings] == [True]
    subprocess.run(["mount", "-o", "remount,rw", str(read_only)], check=True)
    for step in range(1, 4):
        writer.row({"x": step}, step)
    writer.close()
    assert steps(writer.directory)[-1] == 3
    assert writer.rejected <= 2
    assert len(warnings) == 1
