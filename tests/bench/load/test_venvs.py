"""Environments are made once and made anew when what they are made of changes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from strobe.bench.load import catalog, venvs
from strobe.errors import Error

JSONL = catalog.trackers()["jsonl"]


def test_the_place_comes_from_the_variable_or_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert venvs.default_directory() == tmp_path / "strobe" / "bench" / "venvs"
    monkeypatch.setenv("STROBE_BENCH_VENVS", str(tmp_path / "other"))
    assert venvs.default_directory() == tmp_path / "other"


def test_strobe_is_installed_from_the_checkout() -> None:
    arguments = venvs._pip_arguments(("this-strobe", "numpy"))
    assert arguments[0] == "--editable"
    assert (Path(arguments[1]) / "pyproject.toml").is_file()
    assert arguments[2] == "numpy"


@pytest.mark.slow
def test_an_environment_is_made_once(tmp_path: Path) -> None:
    said: list[str] = []
    python = venvs.ensure(JSONL, tmp_path, said.append)
    assert python.exists()
    assert venvs.ensure(JSONL, tmp_path, said.append) == python
    assert said == [f"installing jsonl into {tmp_path / 'jsonl'}"]
    (tmp_path / "jsonl" / "load-bench.stamp").write_text("made of something else")
    venvs.ensure(JSONL, tmp_path, said.append)
    assert len(said) == 2


@pytest.mark.slow
def test_an_installation_that_fails_says_why(tmp_path: Path) -> None:
    broken = dataclasses.replace(JSONL, name="broken", requirements=(f"{tmp_path}/nothing.whl",))
    with pytest.raises(Error, match=r"nothing\.whl.* failed"):
        venvs.ensure(broken, tmp_path)
    assert not (tmp_path / "broken" / "load-bench.stamp").exists()
