"""A virtual environment per tracker, made on first use and kept.

    <venvs>/<tracker>/                 the environment; `load-bench.stamp` in it says what was installed
    <venvs>/<tracker>.lock             held while one process makes it

Trackers need libraries that contradict each other and each other's imports must not be measured. POSIX only,
as the profiles are: they fork.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from strobe.errors import Error

_STAMP = "load-bench.stamp"
#: in a tracker's REQUIREMENTS: the Strobe that runs this, from its checkout or by its version
THIS_STROBE = "this-strobe"

Say = Callable[[str], None]


class Installed(Protocol):
    """What gets an environment: a tracker, or anything else out of PyPI that is measured beside us."""

    @property
    def name(self) -> str: ...

    @property
    def requirements(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Package:
    """Something out of PyPI that is no tracker."""

    name: str
    requirements: tuple[str, ...]


def default_directory() -> Path:
    """Return `$STROBE_BENCH_VENVS`, else the cache directory's place for them."""
    if explicit := os.environ.get("STROBE_BENCH_VENVS"):
        return Path(explicit).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "strobe" / "bench" / "venvs"


def ensure(tracker: Installed, directory: Path, say: Say = lambda text: None) -> Path:
    """Return the interpreter of the tracker's environment, made or brought up to date if need be."""
    place = directory / tracker.name
    python = place / "bin" / "python"
    arguments = _pip_arguments(tracker.requirements)
    stamp = _stamp(arguments)
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / f"{tracker.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if python.exists() and _read(place / _STAMP) == stamp:
            return python
        say(f"installing {tracker.name} into {place}")
        _run([sys.executable, "-m", "venv", *([] if arguments else ["--without-pip"]), str(place)])
        if arguments:
            _run([str(python), "-I", "-m", "pip", "install", "--disable-pip-version-check", *arguments])
        (place / _STAMP).write_text(stamp, encoding="utf-8")
    return python


def _pip_arguments(requirements: tuple[str, ...]) -> list[str]:
    return [part for one in requirements for part in (_this_strobe() if one == THIS_STROBE else [one])]


def _this_strobe() -> list[str]:
    checkout = Path(__file__).parents[4]
    if (checkout / "pyproject.toml").is_file() and (checkout / "src" / "strobe").is_dir():
        return ["--editable", str(checkout)]
    from strobe._version import __version__

    return [f"strobe=={__version__}"]


def _stamp(arguments: list[str]) -> str:
    """What the environment was made from: a new pin, interpreter or dependency of a checkout makes it anew."""
    lines = [sys.version, *arguments]
    for path in (Path(argument) / "pyproject.toml" for argument in arguments if os.sep in argument):
        with suppress(OSError):
            lines.append(hashlib.sha256(path.read_bytes()).hexdigest())
    return "\n".join(lines)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        reason = next((line for line in reversed(lines) if line.startswith("ERROR")), "".join(lines[-1:]))
        raise Error(f"`{' '.join(command)}` failed: {reason}")
