"""The current run: the one that module-level calls such as `strobe.log` mean; and which runs are active.

`strobe.log` and its kin are functions here that look the run up. While a run is active, `strobe.log` itself *is* the
run's method, so that the module-level call costs no more than `run.log`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from strobe.errors import NotInitialized

if TYPE_CHECKING:
    from strobe.sdk.run import Run

run: Run | None = None
#: runs that the process `_pid` started and that have not ended, the oldest first
_active: list[Run] = []
_pid = 0

#: module-level names that are methods of the current run
METHODS = (
    "log",
    "save",
    "restore",
    "define_metric",
    "watch",
    "unwatch",
    "alert",
    "log_code",
    "log_artifact",
    "use_artifact",
    "log_model",
    "use_model",
    "link_artifact",
    "link_model",
    "upsert_artifact",
    "finish_artifact",
    "mark_preempting",
)


def set_run(new: Run | None) -> None:
    """Make `new` the current run."""
    global run
    run = new
    module = sys.modules["strobe"]
    module.__dict__["log"] = METHOD_CALLS["log"] if new is None else new.log


def add_run(new: Run, *, is_current: bool = True) -> None:
    """Note an active run and have it forgotten when it ends; `is_current` makes module-level calls mean it."""
    active_runs().append(new)
    if is_current:
        set_run(new)
    new._on_finish.append(_forget)


def active_runs() -> list[Run]:
    """Return the runs of this process that have not ended. A forked child has none: those it knows are its parent's."""
    global _active, _pid
    if _pid != os.getpid():
        _active, _pid = [], os.getpid()
    return _active


def _forget(old: Any) -> None:
    if old in active_runs():
        _active.remove(old)
    if run is old:
        set_run(None)


def require_run(name: str) -> Run:
    """Return the current run, or raise NotInitialized that names the call."""
    if run is None:
        raise NotInitialized(f"strobe.{name} needs a run; call strobe.init() first")
    return run


def _method_call(name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(require_run(f"{name}()"), name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Call `{name}` of the current run."
    return call


METHOD_CALLS: dict[str, Callable[..., Any]] = {name: _method_call(name) for name in METHODS}


def finish(exit_code: int | None = None, quiet: bool | None = None) -> None:
    """End the current run; does nothing without one."""
    if run is not None:
        run.finish(exit_code, quiet)


class BeforeInit:
    """Stands for `strobe.config` and `strobe.summary` while there is no run: every use says what to do."""

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_name", name)

    def _complain(self, *args: Any, **kwargs: Any) -> Any:
        raise NotInitialized(f"strobe.{object.__getattribute__(self, '_name')} needs a run; call strobe.init() first")

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):
            raise AttributeError(key)
        return self._complain()

    __getitem__ = __setitem__ = __delitem__ = __setattr__ = __call__ = __iter__ = __len__ = __contains__ = _complain

    def __repr__(self) -> str:
        return f"<strobe.{object.__getattribute__(self, '_name')} before strobe.init()>"


def config() -> Any:
    return run.config if run is not None else BeforeInit("config")


def summary() -> Any:
    return run.summary if run is not None else BeforeInit("summary")
