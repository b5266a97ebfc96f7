"""The home: the one directory where runs, artifacts and the agent's state live on a machine.

    <home>/runs/<entity>/<project>/<id>/journal/   segments, one writer each (strobe.journal)
    <home>/runs/<entity>/<project>/<id>/files/     media, saved files, big values
    <home>/runs/<entity>/<project>/<id>/attempts/  one file per attempt, created exclusively
    <home>/artifacts/                              local artifact store (strobe.artifact)
    <home>/active/                                 one file per live writer: what the agent watches
    <home>/agent/                                  the agent's locks and log
    <home>/trash/                                  removed runs, until undone or emptied
    <home>/importing/                              runs being imported, until they are whole (strobe.importers)

This module knows paths and names only; it never reads a journal.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from strobe.errors import UsageError

LOCAL_ENTITY = "local"
DEFAULT_PROJECT = "uncategorized"

# wandb's rule for ids and project names, so that a run can move between the two.
_FORBIDDEN = re.compile(r"[/\\#?%:\x00-\x1f]")
_MAX_NAME = 128


def default_home(environ: Mapping[str, str] | None = None) -> Path:
    """Return `$STROBE_HOME`, else the platform's data directory for Strobe."""
    env = os.environ if environ is None else environ
    if explicit := env.get("STROBE_HOME"):
        return Path(explicit).expanduser()
    if sys.platform == "win32":
        return Path(env.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "strobe"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "strobe"
    return Path(env.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "strobe"


def check_name(kind: str, name: str) -> str:
    """Return `name` if it can be a directory of the home, else raise UsageError saying why."""
    if not isinstance(name, str) or not name or name in {".", ".."}:
        raise UsageError(f"{kind} must be a non-empty string, got {name!r}")
    if found := _FORBIDDEN.search(name):
        raise UsageError(f"{kind} {name!r} contains {found.group()!r}; leave out / \\ # ? % : and control characters")
    if len(name.encode()) > _MAX_NAME:
        raise UsageError(f"{kind} is {len(name.encode())} bytes long, at most {_MAX_NAME} are allowed: {name[:40]!r}…")
    return name


# Structs, because dataclasses and named tuples take milliseconds of `import strobe`.


class RunPath(msgspec.Struct, frozen=True):
    """The name of a run: (entity, project, id), here as in wandb."""

    entity: str
    project: str
    id: str

    def __str__(self) -> str:
        return f"{self.entity}/{self.project}/{self.id}"

    @classmethod
    def parse(cls, text: str, *, entity: str = LOCAL_ENTITY, project: str | None = None) -> RunPath:
        """Parse `id`, `project/id` or `entity/project/id` (an extra `runs` part is skipped, as in URLs)."""
        parts = [part for part in text.strip("/").split("/") if part]
        if len(parts) == 4 and parts[2] == "runs":
            del parts[2]
        if len(parts) == 3:
            return cls(*parts)
        if len(parts) == 2:
            return cls(entity, *parts)
        if len(parts) == 1 and project:
            return cls(entity, project, parts[0])
        raise UsageError(f"{text!r} is not a run path; write entity/project/id, project/id, or id with a project")


class RunDir(msgspec.Struct, frozen=True):
    """The directory of one run."""

    path: Path

    @property
    def journal(self) -> Path:
        return self.path / "journal"

    @property
    def files(self) -> Path:
        return self.path / "files"

    @property
    def attempts(self) -> Path:
        return self.path / "attempts"

    @property
    def run_path(self) -> RunPath:
        entity, project, run_id = self.path.parts[-3:]
        return RunPath(entity, project, run_id)

    def exists(self) -> bool:
        return self.journal.is_dir()


class Home(msgspec.Struct, frozen=True):
    """A directory that holds runs."""

    path: Path

    @property
    def runs(self) -> Path:
        return self.path / "runs"

    @property
    def artifacts(self) -> Path:
        return self.path / "artifacts"

    @property
    def active(self) -> Path:
        return self.path / "active"

    @property
    def agent(self) -> Path:
        return self.path / "agent"

    @property
    def trash(self) -> Path:
        return self.path / "trash"

    def run_dir(self, run: RunPath) -> RunDir:
        return RunDir(self.runs / run.entity / run.project / run.id)

    def iter_runs(self, *, entity: str | None = None, project: str | None = None) -> Iterator[RunDir]:
        """Yield the run directories, in no promised order."""
        for entity_dir in _directories(self.runs, entity):
            for project_dir in _directories(entity_dir, project):
                for run_dir in _directories(project_dir, None):
                    found = RunDir(run_dir)
                    if found.exists():
                        yield found


def _directories(parent: Path, only: str | None) -> list[Path]:
    if only is not None:
        child = parent / only
        return [child] if child.is_dir() else []
    try:
        with os.scandir(parent) as entries:
            return [parent / entry.name for entry in entries if entry.is_dir()]
    except OSError:  # absent, not a directory, or not ours to read: no runs there
        return []
