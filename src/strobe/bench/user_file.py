"""Benchmarks in a file of one's own: how its module is imported, once, whoever asks for it.

The file is named by its path, so it need not lie on Python's path; the worker imports the same path again.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from strobe.errors import UsageError


def is_file_name(name: str) -> bool:
    """Whether a module is named by a path."""
    return name.endswith(".py")


def load_user_file(path: Path) -> ModuleType:
    """Import a file; raises UsageError if it is not there or cannot be imported."""
    place = path.expanduser().resolve()
    name = f"_strobe_bench_{place.stem}_{hashlib.sha256(str(place).encode()).hexdigest()[:8]}"
    if (known := sys.modules.get(name)) is not None:
        return known
    if not place.is_file():
        raise UsageError(f"{path}: no such file; a benchmark of your own is named by the path of its .py file")
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickles look their module up by name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
