"""Strobe: an experiment tracker and performance lab for machine learning.

    import strobe

    run = strobe.init(project="demo", config={"lr": 0.01})
    for step in range(100):
        run.log({"loss": 1 / (step + 1)})
    run.finish()

`import strobe` loads what `init()` and `log()` need, so that the first `init()` is as quick as the next; everything
else (data types, reading, the agent) on first use. Neither numpy nor torch nor the server is ever loaded for it.
`import strobe as wandb` works for scripts written for wandb.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strobe._version import __version__
from strobe.sdk.init import init

if TYPE_CHECKING:  # what a type checker sees; at run time __getattr__ loads these
    # ruff: noqa: F401
    from strobe import data as data_types
    from strobe import errors
    from strobe.api import Api
    from strobe.artifact import Artifact
    from strobe.data import (
        Audio,
        Classes,
        Graph,
        Histogram,
        Html,
        Image,
        Molecule,
        Object3D,
        Plotly,
        Table,
        Video,
        box3d,
        plot,
        plot_table,
    )
    from strobe.errors import CommError, Error, UsageError
    from strobe.sdk import name as util
    from strobe.sdk.alert import AlertLevel
    from strobe.sdk.attach import attach
    from strobe.sdk.compat import controller, join, login, require, setup, sweep, teardown
    from strobe.sdk.config.config import Config
    from strobe.sdk.current import finish
    from strobe.sdk.run import Run
    from strobe.sdk.summary import Summary
    from strobe.settings import Settings
    from strobe.terminal import termerror, termlog, termwarn

    config: Config
    run: Run | None
    summary: Summary
    _run = init()  # module-level calls have the signatures of its methods
    alert = _run.alert
    define_metric = _run.define_metric
    finish_artifact = _run.finish_artifact
    link_artifact = _run.link_artifact
    link_model = _run.link_model
    log = _run.log
    log_artifact = _run.log_artifact
    log_code = _run.log_code
    log_model = _run.log_model
    mark_preempting = _run.mark_preempting
    restore = _run.restore
    save = _run.save
    unwatch = _run.unwatch
    upsert_artifact = _run.upsert_artifact
    use_artifact = _run.use_artifact
    use_model = _run.use_model
    watch = _run.watch

_LAZY: dict[str, str] = {
    "AlertLevel": "strobe.sdk.alert",
    "Api": "strobe.api",
    "Artifact": "strobe.artifact",
    "Audio": "strobe.data",
    "Classes": "strobe.data",
    "CommError": "strobe.errors",
    "Error": "strobe.errors",
    "Graph": "strobe.data",
    "Histogram": "strobe.data",
    "Html": "strobe.data",
    "Image": "strobe.data",
    "Molecule": "strobe.data",
    "Object3D": "strobe.data",
    "Plotly": "strobe.data",
    "Run": "strobe.sdk.run",
    "Settings": "strobe.settings",
    "Table": "strobe.data",
    "UsageError": "strobe.errors",
    "Video": "strobe.data",
    "attach": "strobe.sdk.attach",
    "box3d": "strobe.data",
    "controller": "strobe.sdk.compat",
    "finish": "strobe.sdk.current",
    "join": "strobe.sdk.compat",
    "login": "strobe.sdk.compat",
    "plot": "strobe.data",
    "plot_table": "strobe.data.plot",
    "require": "strobe.sdk.compat",
    "setup": "strobe.sdk.compat",
    "sweep": "strobe.sdk.compat",
    "teardown": "strobe.sdk.compat",
    "termerror": "strobe.terminal",
    "termlog": "strobe.terminal",
    "termwarn": "strobe.terminal",
}
#: whole modules under another name, as wandb has them
_MODULES = {"agent": "strobe.agent", "data_types": "strobe.data", "errors": "strobe.errors", "util": "strobe.sdk.name"}
#: names that mean something else once there is a run: never kept in this module's namespace
_CURRENT = ("config", "summary")

# written out, because type checkers read it: what is not here is not exported to them
__all__ = [
    "AlertLevel",
    "Api",
    "Artifact",
    "Audio",
    "Classes",
    "CommError",
    "Error",
    "Graph",
    "Histogram",
    "Html",
    "Image",
    "Molecule",
    "Object3D",
    "Plotly",
    "Run",
    "Settings",
    "Table",
    "UsageError",
    "Video",
    "__version__",
    "agent",
    "alert",
    "attach",
    "box3d",
    "config",
    "controller",
    "define_metric",
    "finish",
    "finish_artifact",
    "init",
    "join",
    "link_artifact",
    "link_model",
    "log",
    "log_artifact",
    "log_code",
    "log_model",
    "login",
    "mark_preempting",
    "plot",
    "plot_table",
    "require",
    "restore",
    "run",
    "save",
    "setup",
    "summary",
    "sweep",
    "teardown",
    "termerror",
    "termlog",
    "termwarn",
    "unwatch",
    "upsert_artifact",
    "use_artifact",
    "use_model",
    "watch",
]


if not TYPE_CHECKING:  # else every name would exist for a type checker

    def __getattr__(name: str) -> Any:
        if name in _LAZY:
            value = getattr(_import(_LAZY[name]), name)
            globals()[name] = value
            return value
        if name in _MODULES:
            return _import(_MODULES[name])
        if name == "run":
            return _import("strobe.sdk.current").run
        current = _import("strobe.sdk.current")
        if name in _CURRENT:
            return getattr(current, name)()
        if name in current.METHOD_CALLS:
            return current.METHOD_CALLS[name]
        raise AttributeError(f"module 'strobe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_MODULES, *_CURRENT, "log", "run", *_import("strobe.sdk.current").METHODS})


def _import(module: str) -> Any:
    from importlib import import_module

    return import_module(module)
