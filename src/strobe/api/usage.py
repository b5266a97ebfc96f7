"""How much disk a home takes, per project and run, and whether that is within its quota.

Counts what the files occupy on disk, a hard-linked file once. Knows sizes only: it reads no journal.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strobe.home import Home, RunPath

Seen = set[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class RunUsage:
    """The disk use of one run; `modified_ns` is when its journal last grew."""

    run: RunPath
    journal_bytes: int
    files_bytes: int
    modified_ns: int

    @property
    def total_bytes(self) -> int:
        return self.journal_bytes + self.files_bytes


@dataclass(frozen=True, slots=True)
class ProjectUsage:
    """The disk use of all runs of a project."""

    entity: str
    project: str
    num_runs: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Usage:
    """The disk use of a home. `quota_bytes` is None when there is no limit."""

    home: Path
    runs: list[RunUsage] = field(default_factory=list)
    artifact_bytes: int = 0
    trash_bytes: int = 0
    quota_bytes: int | None = None

    @property
    def total_bytes(self) -> int:
        return sum(run.total_bytes for run in self.runs) + self.artifact_bytes + self.trash_bytes

    @property
    def excess_bytes(self) -> int:
        """How much must go for the home to be within its quota; 0 when it is."""
        return 0 if self.quota_bytes is None else max(0, self.total_bytes - self.quota_bytes)

    def projects(self) -> list[ProjectUsage]:
        """Return the projects, the biggest first."""
        groups: dict[tuple[str, str], list[RunUsage]] = {}
        for run in self.runs:
            groups.setdefault((run.run.entity, run.run.project), []).append(run)
        found = [
            ProjectUsage(entity, project, len(runs), sum(run.total_bytes for run in runs))
            for (entity, project), runs in groups.items()
        ]
        return sorted(found, key=lambda project: project.total_bytes, reverse=True)

    def advice(self) -> str | None:
        """Return what to type when the quota is exceeded, else None."""
        if not self.excess_bytes:
            return None
        excess_mb = -(-self.excess_bytes // 1_000_000)
        if self.trash_bytes >= self.excess_bytes:
            return "strobe run trash empty --yes"
        return f"strobe run rm --oldest {excess_mb}MB --yes && strobe run trash empty --yes"


def measure(home: Home, *, quota_bytes: int | None = None) -> Usage:
    """Walk the home and add up what it takes."""
    seen: Seen = set()
    runs = []
    for run_dir in home.iter_runs():
        journal = disk_bytes(run_dir.journal, seen)
        files = disk_bytes(run_dir.path, seen)  # the journal's files are counted already
        runs.append(RunUsage(run_dir.run_path, journal, files, _modified_ns(run_dir.journal)))
    runs.sort(key=lambda run: run.total_bytes, reverse=True)
    return Usage(
        home=home.path,
        runs=runs,
        artifact_bytes=disk_bytes(home.artifacts, seen),
        trash_bytes=disk_bytes(home.trash, seen),
        quota_bytes=quota_bytes,
    )


def oldest(usage: Usage, *, num_runs: int | None = None, num_bytes: int | None = None) -> Iterator[RunUsage]:
    """Yield the runs that have not grown for longest: so many, or until so many bytes are reached."""
    taken_bytes = 0
    for taken, run in enumerate(sorted(usage.runs, key=lambda run: run.modified_ns)):
        if (num_runs is not None and taken >= num_runs) or (num_bytes is not None and taken_bytes >= num_bytes):
            return
        taken_bytes += run.total_bytes
        yield run


def disk_bytes(path: Path, seen: Seen | None = None) -> int:
    """Return what the files under `path` occupy; those in `seen` (by device and inode) are not counted again."""
    return sum(_walk(str(path), set() if seen is None else seen))


def _walk(directory: str, seen: Seen) -> Iterator[int]:
    try:
        entries = list(os.scandir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(entry.path, seen)
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except FileNotFoundError:  # a run may rotate or finish while we look
            continue
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            # What a file occupies, not how long it is: sparse and preallocated files tell the truth that way.
            yield getattr(status, "st_blocks", -(-status.st_size // 512)) * 512


def _modified_ns(journal: Path) -> int:
    try:
        return max((entry.stat().st_mtime_ns for entry in os.scandir(journal)), default=0)
    except FileNotFoundError:
        return 0


def usage_fields(usage: Usage) -> dict[str, Any]:
    """Return the use as `strobe du --json` prints it."""
    return {
        "home": str(usage.home),
        "total_bytes": usage.total_bytes,
        "quota_bytes": usage.quota_bytes,
        "excess_bytes": usage.excess_bytes,
        "advice": usage.advice(),
        "artifact_bytes": usage.artifact_bytes,
        "trash_bytes": usage.trash_bytes,
        "projects": [
            {"entity": p.entity, "project": p.project, "runs": p.num_runs, "bytes": p.total_bytes}
            for p in usage.projects()
        ],
        "runs": [
            {
                "run": str(each.run),
                "journal_bytes": each.journal_bytes,
                "files_bytes": each.files_bytes,
                "modified_ns": each.modified_ns,
            }
            for each in usage.runs
        ],
    }
