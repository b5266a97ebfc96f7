"""Where the demo keeps its runs: a home of its own in the user's cache directory, so that it touches nobody's work."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from strobe.agent.lifecycle import status
from strobe.errors import UsageError
from strobe.home import Home

#: says that a directory was made by the demo and may be removed with all that is in it
_MARK = "made-by-strobe-demo"


def demo_home(environ: Mapping[str, str]) -> Home:
    """Return the demo's own home."""
    if sys.platform == "win32":
        cache = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Home(cache / "strobe" / "demo")


def prepare(home: Home, *, is_fresh: bool) -> None:
    """Make the home; `is_fresh` removes what an earlier demo left there, and refuses to remove anything else."""
    mark = home.path / _MARK
    if is_fresh and home.path.exists() and any(home.path.iterdir()):
        if not mark.exists():
            raise UsageError(f"{home.path} was not made by `strobe demo`; --fresh removes only what was")
        if status(home).running:
            raise UsageError(f"runs are being recorded in {home.path}; end the other demo first (Ctrl-C there)")
        shutil.rmtree(home.path)
    is_new = not home.path.exists() or not any(home.path.iterdir())
    home.path.mkdir(parents=True, exist_ok=True)
    if is_new:
        mark.write_text("`strobe demo --fresh` removes this directory with everything in it.\n")


def child_environment(home: Home, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a training: nothing of the user's own settings, so that no run goes anywhere else."""
    kept = {name: value for name, value in environ.items() if not name.startswith(("STROBE_", "WANDB_"))}
    own = {
        "STROBE_HOME": os.fspath(home.path),
        "STROBE_MODE": "offline",
        "STROBE_STATS_INTERVAL_S": "2",
        "STROBE_SILENT": "true",
        "PYTHONUNBUFFERED": "1",
        # One core is enough, and the rest is for whoever looks.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    return {**kept, **own}
