"""Benchmarks in a file of one's own: how its module is imported, once, whoever asks for it.

The file is named by its path, so it need not lie on Python's path; the worker imports the same path again. Modules
beside it can be imported from it, as from a script.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
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
    # At the end, where nothing that lies beside a file can stand in for a library.
    if str(place.parent) not in sys.path:
        sys.path.append(str(place.parent))
    # Dataclasses and pickles look their module up by name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as exc:
        del sys.modules[name]
        if isinstance(exc, KeyboardInterrupt):
            raise
        raise UsageError(f"{path}{_line_of(exc, place)}: cannot be imported: {_last_line(exc)}") from exc
    return module


def _line_of(exc: BaseException, place: Path) -> str:
    """Return where in the file it went wrong, as compilers write it."""
    if isinstance(exc, SyntaxError) and exc.filename == str(place):
        return f":{exc.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(exc.__traceback__) if frame.filename == str(place)]
    return f":{lines[-1]}" if lines else ""


def _last_line(exc: BaseException) -> str:
    return traceback.format_exception_only(exc)[-1].strip()
