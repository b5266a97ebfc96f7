"""What a project is called: the same wherever it is checked out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from strobe.bench.project import project_name


def _git(directory: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(directory), *words], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[project]\nname = 'mine'", "mine"),
        ("[tool.poetry]\nname = 'mine'", "mine"),
        ("[tool.ruff]\nline-length = 120", ""),
        ("project = 'mine'", ""),
        ("[project", ""),
    ],
)
def test_the_name_in_pyproject(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert project_name(tmp_path) == name


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://git.example/me/mine.git", "mine"),
        ("git@git.example:mine", "mine"),
        ("/srv/git/mine/", "mine"),
        ("C:\\code\\mine", "mine"),
    ],
)
def test_without_one_it_is_that_of_the_origin(tmp_path: Path, address: str, name: str) -> None:
    _git(tmp_path, "init", "-q")
    assert project_name(tmp_path) == ""  # the directory's own name says nothing
    _git(tmp_path, "remote", "add", "origin", address)
    assert project_name(tmp_path) == name
    (tmp_path / "sub").mkdir()
    assert project_name(tmp_path / "sub") == name
