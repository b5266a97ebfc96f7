"""Finds profiles and trackers: the files of `profiles/` and `trackers/`, or any file named by its path.

Their top level is plain constants (docs/benchmarks.md), so loading one costs nothing and needs no tracker
installed. What is wrong with a file is said here, before anything is measured.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from strobe.bench.records import Better
from strobe.errors import UsageError

_HERE = Path(__file__).parent
#: what `--profile all` means: the seed's profiles; the scenarios are named one by one
SEED_PROFILES = ("v1-empty", "v1-scalars", "v1-tables", "v1-images")


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that a profile gives."""

    name: str
    unit: str
    better: Better
    title: str


@dataclass(frozen=True, slots=True)
class Profile:
    """A load: what is logged and what is timed."""

    name: str
    path: Path
    summary: str
    metrics: tuple[Metric, ...]
    options: dict[str, float]
    needs: tuple[str, ...]

    @property
    def word(self) -> str:
        """What `--profile` takes for it."""
        return _word(self.name, self.path)


@dataclass(frozen=True, slots=True)
class Tracker:
    """A tracker: how it is installed and which of its features can be switched."""

    name: str
    path: Path
    module: str
    requirements: tuple[str, ...]
    modes: tuple[str, ...]
    #: feature → values, the default first
    features: dict[str, tuple[str, ...]]
    #: features that change nothing (any more): variants of them are repeats of the same measurement
    repeats: tuple[str, ...]
    environment: dict[str, str]
    #: the optional parts it has: table, image, stored, arrival
    offers: frozenset[str]

    @property
    def word(self) -> str:
        """What `--tracker` takes for it."""
        return _word(self.name, self.path)


def _word(name: str, path: Path) -> str:
    """Return the name of a file that is found by it, else the whole path."""
    return name if path.is_relative_to(_HERE) else str(path.resolve())


def load_profile(path: Path) -> Profile:
    """Read a profile's file."""
    module = _load(path, ("NAME", "METRICS", "OPTIONS", "NEEDS", "measure"))
    return Profile(
        name=module.NAME,
        path=path,
        summary=_summary(module),
        metrics=tuple(Metric(name, *entry) for name, entry in module.METRICS.items()),
        options=dict(module.OPTIONS),
        needs=tuple(module.NEEDS),
    )


def load_tracker(path: Path) -> Tracker:
    """Read a tracker's file."""
    names = ("NAME", "DISTRIBUTION", "MODULE", "REQUIREMENTS", "MODES", "FEATURES", "REPEATS", "ENVIRONMENT")
    module = _load(path, (*names, "Tracker"))
    return Tracker(
        name=module.NAME,
        path=path,
        module=module.MODULE,
        requirements=tuple(module.REQUIREMENTS),
        modes=tuple(module.MODES),
        features=dict(module.FEATURES),
        repeats=tuple(module.REPEATS),
        environment=dict(module.ENVIRONMENT),
        offers=frozenset(part for part in ("table", "image", "stored", "arrival") if hasattr(module.Tracker, part)),
    )


def profiles() -> dict[str, Profile]:
    """Return all profiles by name."""
    return {profile.name: profile for profile in map(load_profile, _files("profiles"))}


def trackers() -> dict[str, Tracker]:
    """Return all trackers by name."""
    return {tracker.name: tracker for tracker in map(load_tracker, _files("trackers"))}


def find_profiles(names: list[str]) -> list[Profile]:
    """Resolve names, `all` and paths to profiles, in the order given; raises UsageError for an unknown one."""
    known = profiles()
    wanted = [one for name in names for one in (SEED_PROFILES if name == "all" else (name,))]
    return [load_profile(Path(n)) if n.endswith(".py") else _pick("profile", n, known) for n in wanted]


def find_trackers(names: list[str]) -> list[Tracker]:
    """Resolve names and paths to trackers, in the order given; raises UsageError for an unknown one."""
    known = trackers()
    return [load_tracker(Path(n)) if n.endswith(".py") else _pick("tracker", n, known) for n in names]


def _files(folder: str) -> list[Path]:
    return sorted(path for path in (_HERE / folder).glob("*.py") if path.name != "__init__.py")


def _pick(kind: str, name: str, known: dict[str, Any]) -> Any:
    if name not in known:
        raise UsageError(f"{kind} {name!r} is not one of {', '.join(known)}, nor a path ending in .py")
    return known[name]


def _load(path: Path, names: tuple[str, ...]) -> ModuleType:
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(f"_load_catalog_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if missing := [name for name in names if not hasattr(module, name)]:
        raise UsageError(f"{path} lacks {', '.join(missing)}; docs/benchmarks.md says what a file holds")
    return module


def _summary(module: ModuleType) -> str:
    """The first line of the docstring, without the name that it begins with."""
    line = (module.__doc__ or "").strip().partition("\n")[0]
    return line.removeprefix(f"{module.NAME}: ")
