"""Faults of a disk, and what a killed process leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from strobe.errors import StoreError, StoreFull
from strobe.store.blobs.directory import DirectoryBlobs


def test_a_draft_in_the_making_is_listed_for_gc(tmp_path: Path) -> None:
    blobs = DirectoryBlobs(tmp_path)
    with blobs.draft() as draft:
        draft.write(b"abc")
        (found,) = blobs.list()
        assert found.key.startswith("incoming/")
        assert found.size == 3
    assert list(blobs.list()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = DirectoryBlobs(tmp_path)
    draft = blobs.draft()
    # The draft's file becomes one on a full device.
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, draft._file.fileno())
    os.close(full)
    with pytest.raises(StoreFull, match="make room"):
        draft.write(b"abc")
    draft.discard()
    assert list(blobs.list()) == []


def test_a_directory_that_can_not_be(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file")
    with pytest.raises(StoreError, match="blobs"):
        DirectoryBlobs(tmp_path / "blobs").put("a", [b"x"])


@pytest.mark.skipif(os.name != "posix", reason="directories can't be forced to the disk elsewhere")
def test_the_names_of_new_directories_survive_a_power_failure_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced: set[int] = set()
    fsync = os.fsync

    def noting(descriptor: int) -> None:
        forced.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr("strobe.store.blobs.directory.os.fsync", noting)
    DirectoryBlobs(tmp_path).put("sha256/ab/cd", [b"x"])
    for place in (".", "sha256", "sha256/ab", "sha256/ab/cd"):
        assert (tmp_path / place).stat().st_ino in forced, place


_KILLED = """
import os, sys
from pathlib import Path
from strobe.store.blobs.directory import DirectoryBlobs
draft = DirectoryBlobs(Path(sys.argv[1])).draft()
draft.write(b"x" * 100_000)
os.kill(os.getpid(), 9)
"""


@pytest.mark.slow
def test_a_kill_leaves_a_draft_and_no_blob(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path)], check=False)
    assert [blob.key.split("/")[0] for blob in DirectoryBlobs(tmp_path).list()] == ["incoming"]
