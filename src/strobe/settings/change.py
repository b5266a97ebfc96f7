"""Setting a setting for good: in the user's file, or in the project's.

Decides which file and what may be written there; how TOML text is changed is edit.py's business.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from strobe.errors import SettingsError
from strobe.settings.edit import set_value, unset_value
from strobe.settings.files import PROJECT_FILE, project_file, user_file_path
from strobe.settings.names import Name, known_name
from strobe.settings.resolve import resolve
from strobe.settings.settings import shown


class Change:
    """What was done: the setting, its value as it may be shown, the file, and who decides in spite of it."""

    __slots__ = ("decided_by", "name", "path", "value", "was_set")

    def __init__(self, name: str, path: Path, *, value: Any = None, was_set: bool, decided_by: str | None) -> None:
        self.name = name
        self.path = path
        self.value = value
        self.was_set = was_set
        self.decided_by = decided_by


def write_setting(
    name: str, text: str, *, project: bool = False, environ: Mapping[str, str] | None = None, cwd: str
) -> Change:
    """Write a setting, given as text, into the user's or the project's file, which is made if need be."""
    env = os.environ if environ is None else environ
    known = known_name(name)
    field = known.field
    if project and field.secret:
        raise SettingsError(f"{field.name} is a secret and does not belong in a project; set it for the user")
    value = known.read(text, cwd, name)
    if value is None or value == ():
        raise SettingsError(f"{name} is empty; `strobe config unset {name}` takes it out")
    path = _file(project, env, cwd)
    if isinstance(value, Path) and project:
        value = Path(os.path.relpath(value, path.parent))  # the checkout lies elsewhere on another machine
    set_value(path, field.name, value, private=not project)
    was_set = _remove(path, known, keep=field.name)
    # Something stronger than the file would make the change a riddle.
    origin = resolve({}, env, cwd).origin(field.name)
    decided_by = None if origin.startswith(str(path)) else origin
    return Change(field.name, path, value=shown(field, value), was_set=was_set, decided_by=decided_by)


def remove_setting(name: str, *, project: bool = False, environ: Mapping[str, str] | None = None, cwd: str) -> Change:
    """Take a setting, by whatever name it stands there, out of the user's or the project's file."""
    env = os.environ if environ is None else environ
    known = known_name(name)
    path = _file(project, env, cwd)
    return Change(known.field.name, path, was_set=_remove(path, known), decided_by=None)


def _file(project: bool, environ: Mapping[str, str], cwd: str) -> Path:
    if not project:
        return user_file_path(environ)
    found = project_file(cwd)
    return Path(cwd, PROJECT_FILE) if found is None else found.path


def _remove(path: Path, known: Name, *, keep: str | None = None) -> bool:
    """Take out every spelling of a setting but one: two in a file would contradict each other."""
    removed = [unset_value(path, name) for name in known.spellings() if name != keep]
    return any(removed)
