"""Each test meets a process that has not warned yet, and directories of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import strobe
from strobe.home import Home
from strobe.sdk import current
from strobe.settings import Resolved, Settings, notice, resolve

from .effect import Start


@pytest.fixture(autouse=True)
def _nothing_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notice, "_given", set())


class Place:
    """A project directory and a user's configuration directory, and settings as found there."""

    def __init__(self, path: Path) -> None:
        self.cwd = path / "work" / "deep"
        self.cwd.mkdir(parents=True)
        self.project = path / "work"
        self.user_file = path / "config" / "strobe" / "config.toml"
        self.user_file.parent.mkdir(parents=True)
        self.environ = {"XDG_CONFIG_HOME": str(path / "config"), "XDG_DATA_HOME": str(path / "data")}

    def resolve(self, keywords: dict[str, object] | None = None, /, **variables: str) -> Resolved:
        return resolve(keywords, {**self.environ, **variables}, self.cwd)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def start(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start a run with settings, in an empty working directory; a config may be among them. All end with the test."""
    cwd = tmp_path / "cwd"
    cwd.mkdir()
    monkeypatch.chdir(cwd)

    def start(*, config: dict[str, Any] | None = None, **settings: Any) -> strobe.Run:
        settings.setdefault("reinit", "create_new")
        return strobe.init(config=config, settings=Settings(**settings))

    yield start
    for run in list(current.active_runs()):
        run.finish()


@pytest.fixture
def agent_asked(monkeypatch: pytest.MonkeyPatch) -> list[Home]:
    """Let runs leave their note for the agent without one being started; the homes it was to be started for."""
    asked: list[Home] = []

    def ensure(home: Home, *, version: str) -> None:
        asked.append(home)

    monkeypatch.setenv("STROBE_AGENT", "on")
    monkeypatch.setattr("strobe.agent.launch.ensure", ensure)
    return asked
