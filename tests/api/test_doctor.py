"""Each check tells a sound machine from a sick one."""

from __future__ import annotations

import os
import shutil
import time
from collections import namedtuple
from pathlib import Path

import pytest

from strobe.api.doctor import examine, file_system_kind
from strobe.home import Home

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
tmpfs /tmp tmpfs rw 0 0
server:/x /data/my\\040home nfs4 rw 0 0
"""


def statuses(home: Home | None = None) -> dict[str, tuple[str, str]]:
    return {check.name: (check.status, check.detail) for check in examine(str(home.path) if home else None)}


def test_a_sound_machine(home: Home) -> None:
    found = statuses(home)
    assert found["home"][0] == "ok"
    assert found["clock"][0] == "ok"
    assert found["quota"] == ("ok", "0.00 GB used by 0 runs, no quota")


def test_file_systems(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    assert file_system_kind(Path("/home/me"), mounts) == "ext4"
    assert file_system_kind(Path("/tmp/x"), mounts) == "tmpfs"
    assert file_system_kind(Path("/data/my home/runs"), mounts) == "nfs4"
    assert file_system_kind(Path("/x"), tmp_path / "nothing") is None


@pytest.mark.parametrize(
    ("kind", "status", "said"), [("tmpfs", "warn", "reboot"), ("nfs", "ok", "network"), (None, "ok", "")]
)
def test_file_systems_judged(
    home: Home, monkeypatch: pytest.MonkeyPatch, kind: str | None, status: str, said: str
) -> None:
    monkeypatch.setattr("strobe.api.doctor.file_system_kind", lambda path: kind)
    found = statuses(home)["file system"]
    assert found[0] == status
    assert said in found[1]


@pytest.mark.parametrize(("free", "status"), [(10**7, "fail"), (10**9, "warn"), (10**11, "ok")])
def test_disk_space(home: Home, monkeypatch: pytest.MonkeyPatch, free: int, status: str) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**12, 0, free))
    assert statuses(home)["disk space"][0] == status


def test_a_clock_in_the_past(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    assert statuses(home)["clock"] == ("fail", "shows 1970-01-01, which is past")


def test_a_clock_that_differs_from_the_file_systems(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    later = time.time() + 100
    monkeypatch.setattr(time, "time", lambda: later)
    status, said = statuses(home)["clock"]
    assert status == "warn"
    assert "-100" in said or "-99" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert statuses(Home(tmp_path / "home"))["home"][0] == "fail"


def test_a_server_is_mentioned(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_BASE_URL", "http://localhost:8080")
    assert "http://localhost:8080" in statuses(home)["server"][1]
