"""What the project in a directory is called: the same in every checkout of it. Reads files, asks git."""

from __future__ import annotations

import re
import time
from pathlib import Path

import msgspec

from strobe.environment.execute import Failed, execute
from strobe.errors import Error
from strobe.settings.files import PYPROJECT, parse_document

_GIT_LIMIT_S = 5.0


class _Named(msgspec.Struct, frozen=True):
    name: str = ""


class _Tools(msgspec.Struct, frozen=True):
    poetry: _Named = _Named()


class _Document(msgspec.Struct, frozen=True):
    project: _Named = _Named()
    tool: _Tools = _Tools()


def project_name(root: Path) -> str:
    """Return the name in pyproject.toml, else the last part of the address of git's origin; empty without either.

    Never that of the directory: worktrees, clones and CI put one project into directories of any name.
    """
    return _declared(root / PYPROJECT) or _origin(root)


def _declared(path: Path) -> str:
    try:
        found = msgspec.convert(parse_document(path.read_text(encoding="utf-8"), path), _Document)
    except (OSError, UnicodeDecodeError, Error, msgspec.ValidationError):
        return ""
    return found.project.name or found.tool.poetry.name


def _origin(root: Path) -> str:
    words = ["git", "config", "--get", "remote.origin.url"]
    try:
        address = execute(words, cwd=str(root), deadline=time.monotonic() + _GIT_LIMIT_S).text
    except Failed:
        return ""
    return re.split(r"[/:\\]", address.strip().rstrip("/\\"))[-1].removesuffix(".git")
