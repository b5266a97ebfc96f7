"""Each test meets a process that has not warned yet, and directories of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.settings import Resolved, notice, resolve


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
