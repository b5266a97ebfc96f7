"""The two files that settings may come from, and how they are found and read.

    project   strobe.toml, or [tool.strobe] in pyproject.toml: the nearest one from the working directory upwards
    user      config.toml in the user's configuration directory

Knows TOML and places; which settings exist and who wins is decided in resolve.py. A parsed file is kept until it
changes, and the TOML parser is imported only when there is something to parse: both are on the way of `init()`.
"""

from __future__ import annotations

import importlib
import os
import re
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strobe.errors import SettingsError
from strobe.settings.notice import warn_once

PROJECT_FILE = "strobe.toml"
PYPROJECT = "pyproject.toml"

_LINE = re.compile(r"\(at line (\d+), column \d+\)$")
_parsed: dict[str, tuple[tuple[int, int], SettingsFile | None]] = {}


class SettingsFile:
    """A file with settings: its path, the text, and the values of its table."""

    __slots__ = ("path", "text", "values")

    def __init__(self, path: Path, text: str, values: dict[str, Any]) -> None:
        self.path = path
        self.text = text
        self.values = values

    def place(self, key: str) -> str:
        """Return "path:line" of a key, for people."""
        found = re.search(rf"""^[ \t]*["']?{re.escape(key)}["']?[ \t]*=""", self.text, re.MULTILINE)
        return f"{self.path}:{self.text.count(chr(10), 0, found.start()) + 1}" if found else str(self.path)


def user_file_path(environ: Mapping[str, str]) -> Path:
    """Return where the user's file is, or would be."""
    if base := environ.get("XDG_CONFIG_HOME"):
        return Path(base, "strobe", "config.toml")
    if sys.platform == "win32":
        base = environ.get("APPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Roaming") / "strobe" / "config.toml"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "strobe" / "config.toml"
    base = environ.get("HOME")
    return Path(base or Path.home(), ".config", "strobe", "config.toml")


def user_file(environ: Mapping[str, str]) -> SettingsFile | None:
    """Return the user's file if there is one."""
    return _load(os.fspath(user_file_path(environ)))


def project_file(cwd: str) -> SettingsFile | None:
    """Return the nearest project file from `cwd` upwards, if there is one."""
    # Text, not Path: most of these files are not there, and Path objects would be most of the cost.
    directory = os.path.abspath(cwd)
    while True:
        for name in (PROJECT_FILE, PYPROJECT):
            found = _load(os.path.join(directory, name), guard=True)
            if found is not None:
                return found
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def parse(text: str, path: Path) -> dict[str, Any]:
    """Return the settings table of a file's text: the whole of it, or `[tool.strobe]` of a pyproject.toml."""
    document = parse_document(text, path)
    if path.name != PYPROJECT:
        return document
    table = document.get("tool", {}).get("strobe", {})
    if not isinstance(table, dict):
        raise SettingsError(f"{path}: tool.strobe is not a table; write [tool.strobe]")
    return table


def parse_document(text: str, path: Path) -> dict[str, Any]:
    """Return a TOML document, or raise SettingsError with file and line."""
    toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document: dict[str, Any] = toml.loads(text)
    except toml.TOMLDecodeError as exc:
        line = _LINE.search(str(exc))
        # "at end of document" is the other form: the last line is where to look.
        number = line[1] if line else str(text.count("\n") + 1)
        raise SettingsError(f"{path}:{number}: not valid TOML: {_LINE.sub('', str(exc)).strip()}") from exc
    return document


def _load(name: str, *, guard: bool = False) -> SettingsFile | None:
    """Return the file's settings; None if there is no file, or a pyproject.toml without ours."""
    try:
        status = os.stat(name)
    except OSError:  # not there, or not for us to see
        return None
    stamp = (status.st_mtime_ns, status.st_size)
    kept = _parsed.get(name)
    if kept is not None and kept[0] == stamp:
        return kept[1]
    path = Path(name)
    if guard and _planted(path, status):
        warn_once(f"planted {name}", f"{name} is ignored: someone else put it into a directory open to all")
        return None
    found = _read(path)
    _parsed[name] = (stamp, found)
    return found


def _read(path: Path) -> SettingsFile | None:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as exc:
        warn_once(f"unreadable {path}", f"{path} cannot be read, its settings are ignored: {exc.strerror}")
        return None
    except UnicodeDecodeError as exc:
        raise SettingsError(f"{path}: not UTF-8 at byte {exc.start}; TOML files must be") from exc
    if path.name == PYPROJECT and not _may_hold_settings(text):
        return None
    values = parse(text, path)
    return SettingsFile(path, text, values) if values or path.name != PYPROJECT else None


def _may_hold_settings(text: str) -> bool:
    """Tell cheaply that a pyproject.toml has no [tool.strobe]; when in doubt, say yes and let TOML decide."""
    squeezed = text.replace(" ", "").replace('"', "").replace("'", "")
    return "tool.strobe" in squeezed or ("[tool]" in squeezed and "strobe" in squeezed)


def _planted(path: Path, status: os.stat_result) -> bool:
    """A file of another user in a directory that everybody may write to (/tmp) is no project file of ours."""
    if sys.platform == "win32" or status.st_uid in {0, os.geteuid()}:
        return False
    try:
        return bool(path.parent.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True
