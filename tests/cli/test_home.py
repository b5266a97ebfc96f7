"""`strobe home`, `du` and `doctor`: where, how much, and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.home import Home

from .conftest import Strobe


def test_home_prints_the_path_alone(strobe: Strobe, home: Home) -> None:
    assert strobe("home").out == f"{home.path}\n"
    assert "from STROBE_HOME" in strobe("home", "-v").err
    assert strobe("home", "--json").json["trash"] == str(home.trash)


def test_du_per_project_and_run(strobe: Strobe, three: Home) -> None:
    result = strobe("du")
    assert [line.split()[0] for line in result.lines] == [
        "WHAT",
        "local/mnist",
        "local/cifar",
        "artifacts",
        "trash",
        "total",
    ]
    assert len(strobe("du", "--runs").lines) == 4
    assert "showing 1 of 3" in strobe("du", "--runs", "--limit", "1").err
    found = strobe("du", "--json").json
    assert found["quota_bytes"] is None
    assert found["total_bytes"] == sum(run["journal_bytes"] + run["files_bytes"] for run in found["runs"])


def test_over_the_quota_there_is_advice_that_works(
    strobe: Strobe, three: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STROBE_QUOTA_BYTES", "1kB")
    result = strobe("du")
    assert result.code == 1
    assert "the quota is 1 kB" in result.err
    advice = strobe("du", "--json").json["advice"]
    for command in advice.split(" && "):
        assert strobe(*command.split()[1:]).code == 0
    assert strobe("du").code == 0


def test_a_full_trash_is_emptied_first(strobe: Strobe, three: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    strobe("run", "rm", "aa1", "ab2", "cc3", "--yes")
    monkeypatch.setenv("STROBE_QUOTA_BYTES", "1kB")
    assert strobe("du", "--json").json["advice"] == "strobe run trash empty --yes"


def test_doctor(strobe: Strobe, three: Home) -> None:
    result = strobe("doctor")
    assert result.code == 0
    checks = {check["name"]: check for check in strobe("doctor", "--json").json}
    assert list(checks) == [
        "versions",
        "settings",
        "home",
        "file system",
        "disk space",
        "clock",
        "quota",
        "optional libraries",
        "server",
        "agent",
    ]
    assert "3 runs" in checks["quota"]["detail"]
    assert checks["agent"]["detail"].startswith("switched off")


def test_doctor_fails_with_the_fix(strobe: Strobe, tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("in the way")
    result = strobe("doctor", "--home", str(blocker / "home"))
    assert result.code == 1
    assert "→ make it writable" in result.out


def test_doctor_survives_broken_settings(strobe: Strobe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_QUOTA_BYTES", "lots")
    result = strobe("doctor")
    assert result.code == 1
    assert "STROBE_QUOTA_BYTES" in result.out
