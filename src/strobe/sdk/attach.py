"""Attaching to a run from another process: it logs into the run as one more writer."""

from __future__ import annotations

from pathlib import Path
from time import time_ns
from typing import Any

from strobe.errors import RunNotFound
from strobe.home import DEFAULT_PROJECT, LOCAL_ENTITY, Home, RunPath
from strobe.journal import event as ev
from strobe.sdk import current
from strobe.sdk.claim import latest
from strobe.sdk.recorder import Recorder
from strobe.sdk.resume import Plan
from strobe.sdk.run import Run
from strobe.sdk.talk import open_terminal
from strobe.settings import resolve

#: what pickled runs became in this process
_handles: dict[tuple[str, str, int], Run] = {}


def attach(run_id: str, *, project: str | None = None, entity: str | None = None) -> Run:
    """Join a run that another process of this home started, and make it the current run here."""
    settings = resolve({})
    home = Home(settings.home)
    project, entity = project or settings.project or DEFAULT_PROJECT, entity or settings.entity or LOCAL_ENTITY
    path = RunPath.parse(run_id, entity=entity, project=project)
    if not home.run_dir(path).exists():
        raise RunNotFound(f"there is no run {path} in {home.path} to attach to")
    run = attach_to(str(home.path), str(path), max(1, latest(home.run_dir(path))))
    current.add_run(run)
    return run


def attach_to(home_path: str, run_path: str, attempt: int) -> Run:
    """Return a handle on the run; this is also what a pickled `Run` becomes."""
    known = _handles.get((home_path, run_path, attempt))
    for run in (current.run, *current.active_runs(), known):
        if run is not None and not run.disabled and run.path == run_path and not run._ended:
            return run
    from strobe.journal.skim import Skim

    home, path = Home(Path(home_path)), RunPath.parse(run_path)
    settings = resolve({})
    recorder = Recorder(home, path, attempt, settings, open_terminal(settings, quiet=True), kind="shared")
    recorder.start(ev.Started(time_ns=time_ns(), primary=False))
    past = Skim(home.run_dir(path))
    attributes: dict[str, Any] = dict(past.attributes)
    run = Run(recorder, Plan(path, resumed=True), attributes, past.config)
    # A run is often sent to a worker with every task; all of them share one writer and its file.
    _handles[home_path, run_path, attempt] = run
    from strobe.sdk.hooks import ExitWatch

    run._watch_exit = ExitWatch(run._finish_at_exit)
    run._watch_exit.install()
    return run
