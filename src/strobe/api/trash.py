"""Removed runs: moved aside whole, so that a removal can be undone, until the trash is emptied.

    <home>/trash/<time_ns>-<id>/entry.json   which run it was and when it went
    <home>/trash/<time_ns>-<id>/run/         the run's directory, as it was

A move is one rename: a kill in the middle leaves the run either where it was or in the trash. Knows directories,
never what a journal says.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from strobe.api.usage import disk_bytes
from strobe.errors import RunExists, RunNotFound
from strobe.home import Home, RunDir, RunPath


@dataclass(frozen=True, slots=True)
class Trashed:
    """A removed run."""

    path: Path
    run: RunPath
    removed_ns: int

    @property
    def content(self) -> Path:
        return self.path / "run"

    def size_bytes(self) -> int:
        return disk_bytes(self.content)


def put(home: Home, run_dir: RunDir, *, now_ns: int | None = None) -> Trashed:
    """Move a run to the trash."""
    run = run_dir.run_path
    if not run_dir.path.is_dir():
        raise RunNotFound(f"run {run} is not in {home.path}")
    removed_ns = time.time_ns() if now_ns is None else now_ns
    entry = Trashed(home.trash / f"{removed_ns}-{run.id}", run, removed_ns)
    entry.path.mkdir(parents=True)
    (entry.path / "entry.json").write_text(json.dumps({"run": str(run), "removed_ns": removed_ns}))
    os.rename(run_dir.path, entry.content)
    return entry


def entries(home: Home) -> list[Trashed]:
    """Return what can be brought back, the latest removal first."""
    try:
        places = list(home.trash.iterdir())
    except FileNotFoundError:
        return []
    found = [entry for place in places if (entry := _read(place)) is not None]
    return sorted(found, key=lambda entry: entry.removed_ns, reverse=True)


def _read(place: Path) -> Trashed | None:
    if not (place / "run").is_dir():
        return None  # the move never happened, or it was undone: nothing to bring back
    try:
        fields = json.loads((place / "entry.json").read_bytes())
        return Trashed(place, RunPath.parse(fields["run"]), int(fields["removed_ns"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def restore(home: Home, entry: Trashed) -> RunDir:
    """Move a removed run back to where it was."""
    run_dir = home.run_dir(entry.run)
    if run_dir.path.exists():
        raise RunExists(f"cannot bring back {entry.run}: a run of that id is there again; remove or rename it first")
    run_dir.path.parent.mkdir(parents=True, exist_ok=True)
    os.rename(entry.content, run_dir.path)
    shutil.rmtree(entry.path, ignore_errors=True)
    return run_dir


def find(home: Home, reference: str | None) -> Trashed:
    """Return the removed run of that id or path; the latest removal when None."""
    candidates = entries(home)
    if reference is not None:
        candidates = [entry for entry in candidates if reference in _names(entry.run)]
    if not candidates:
        wanted = "nothing" if reference is None else f"no run {reference!r}"
        raise RunNotFound(f"{wanted} is in the trash; `strobe run trash ls` lists what is")
    return candidates[0]


def _names(run: RunPath) -> tuple[str, str, str]:
    return run.id, f"{run.project}/{run.id}", str(run)


def empty(home: Home, *, before_ns: int | None = None) -> tuple[int, int]:
    """Delete for good what was removed before that moment (default: all); return (runs, bytes freed)."""
    runs = freed = 0
    for entry in entries(home):
        if before_ns is None or entry.removed_ns < before_ns:
            freed += disk_bytes(entry.path)
            shutil.rmtree(entry.path)
            runs += 1
    return runs, freed
