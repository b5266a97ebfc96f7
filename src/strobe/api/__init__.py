"""Reading runs from Python: `strobe.Api`, over a home or a server.

    run = strobe.Api().run("latest")
    run.history(keys=["loss"])

Never knows a terminal, nor how a run is written. The names load when first used: a home needs no network library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strobe.api.client import Api
    from strobe.api.files import File, Files
    from strobe.api.project import Project
    from strobe.api.run import Run
    from strobe.api.runs import Runs
    from strobe.api.user import User

__all__ = ["Api", "File", "Files", "Project", "Run", "Runs", "User"]

_MODULES = {
    "Api": "client",
    "File": "files",
    "Files": "files",
    "Project": "project",
    "Run": "run",
    "Runs": "runs",
    "User": "user",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"strobe.api.{_MODULES[name]}"), name)
