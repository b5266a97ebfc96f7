"""`init()`: from keywords to a recording run, without network, helper or waiting on the way.

It makes a directory, writes the header and the start of the run, and returns. Faults of the disk do not stop the
training; contradictions in what the caller asks for do, before anything is written.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from strobe.errors import UsageError
from strobe.home import DEFAULT_PROJECT, LOCAL_ENTITY, Home, RunPath, check_name
from strobe.journal import event as ev
from strobe.sdk import current
from strobe.sdk.claim import claim_attempt
from strobe.sdk.config.config import detached
from strobe.sdk.config.source import read_config
from strobe.sdk.hooks import ExitWatch
from strobe.sdk.joint import is_joint, is_primary, join_run
from strobe.sdk.name import generate_id
from strobe.sdk.origin import first_attributes
from strobe.sdk.program import find_program, in_notebook
from strobe.sdk.rank import Place, find_place
from strobe.sdk.recorder import Recorder
from strobe.sdk.report.text import start_line
from strobe.sdk.resume import Plan, plan_start
from strobe.sdk.run import Run
from strobe.sdk.talk import open_terminal
from strobe.settings import Resolved, Settings, resolve
from strobe.terminal import Terminal


def init(
    project: str | None = None,
    *,
    entity: str | None = None,
    name: str | None = None,
    config: Any = None,
    id: str | None = None,
    mode: str | None = None,
    dir: str | os.PathLike[str] | None = None,
    group: str | None = None,
    job_type: str | None = None,
    tags: Sequence[str] | str | None = None,
    notes: str | None = None,
    resume: bool | str | None = None,
    resume_from: str | None = None,
    fork_from: str | None = None,
    reinit: bool | str | None = None,
    strict_steps: bool | None = None,
    save_code: bool | None = None,
    allow_val_change: bool | None = None,
    config_exclude_keys: Sequence[str] | None = None,
    config_include_keys: Sequence[str] | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    force: bool | None = None,
    tensorboard: bool | None = None,
    sync_tensorboard: bool | None = None,
    monitor_gym: bool | None = None,
    anonymous: Any = None,
) -> Run:
    """Start a run and make it the current one.

    `mode` is "offline" (the default without a server), "online", "disabled" or "shared" (several processes, one id).
    `resume` says what happens when `id` exists: "allow", "must", "never" or "auto"; without it the run begins anew
    and the earlier attempt stays readable. Every keyword can also be set by environment or file: docs/settings.md.
    """
    keywords = {
        "project": project,
        "entity": entity,
        "run_name": name,
        "run_id": id,
        "mode": mode,
        "home": dir,
        "run_group": group,
        "run_job_type": job_type,
        "run_tags": tags,
        "run_notes": notes,
        "resume": resume,
        "resume_from": resume_from,
        "fork_from": fork_from,
        "reinit": reinit,
        "strict_steps": strict_steps,
        "save_code": save_code,
        "allow_val_change": allow_val_change,
        "sync_tensorboard": sync_tensorboard or tensorboard,
        "monitor_gym": monitor_gym,
        "force": force,
        "anonymous": anonymous,
    }
    given = {key: value for key, value in keywords.items() if value is not None}
    resolved = resolve(given, settings=settings)
    active = _settle_previous(resolved)
    if active is not None:
        return active
    wanted = read_config(config, include=config_include_keys, exclude=config_exclude_keys)
    place = Place() if resolved.ranks == "each" else find_place()
    if resolved.mode == "disabled" or (place.rank != 0 and resolved.ranks == "zero" and resolved.mode != "shared"):
        return _start_disabled(resolved, wanted)
    return _start(resolved, wanted, place)


def _settle_previous(settings: Resolved) -> Run | None:
    """Return the active run if it is to be kept; else finish what is active where that is asked for."""
    active = list(current.active_runs())
    if not active or settings.reinit == "create_new":
        return None
    if settings.reinit == "return_previous" or (settings.reinit == "default" and not in_notebook()):
        return _previous(active[-1], settings)
    for run in active:
        run.finish()
    return None


def _previous(run: Run, settings: Resolved) -> Run:
    if settings.resume == "must":
        raise UsageError(f'resume="must", but run {run.id} is active; finish it first, or pass reinit="create_new"')
    if not run.disabled:
        run._recorder.terminal.log(
            f"run {run.id} is active, init() returns it; for a new one finish() it first or pass reinit", repeat=False
        )
    return run


def _start(settings: Resolved, config: dict[str, Any], place: Place) -> Run:
    terminal = open_terminal(settings)
    program = settings.program or settings.notebook_name or find_program()
    home, plan, attempt = _settle(settings, place, program, terminal)
    primary = not is_joint(settings, place) or is_primary(settings, place)
    kind = "main" if primary else "shared" if settings.mode == "shared" else "rank"
    rank = None if place.is_alone else place.rank
    recorder = Recorder(home, plan.path, attempt, settings, terminal, kind=kind, rank=rank)
    return _open(recorder, plan, config, program, is_primary=primary)


def _settle(settings: Resolved, place: Place, program: str, terminal: Terminal) -> tuple[Home, Plan, int]:
    """Return where the run is recorded and how it begins; nothing is lost because the home cannot be written to."""
    home = Home(settings.home)
    try:
        return home, *_plan(_writable(home), settings, place, program)
    except OSError as error:
        reason = error.strerror or error
    try:
        fallback = _fallback_home()
        found = _plan(fallback, settings, place, program)
    except OSError:
        # Nowhere to write. The recorder will say so and try again for as long as the run lasts.
        entity, project = settings.entity or LOCAL_ENTITY, settings.project or DEFAULT_PROJECT
        return home, Plan(RunPath(entity, project, settings.run_id or generate_id())), 1
    terminal.warn(f"cannot write to {home.path} ({reason}); recording to {fallback.path} instead")
    return fallback, *found


def _plan(home: Home, settings: Resolved, place: Place, program: str) -> tuple[Plan, int]:
    """Return how the run begins and the number of the attempt."""
    entity = check_name("entity", settings.entity or LOCAL_ENTITY)
    project = check_name("project", settings.project or DEFAULT_PROJECT)
    if is_joint(settings, place):
        return join_run(home, entity, project, settings, place)
    plan = plan_start(
        home,
        entity,
        project,
        settings.run_id,
        resume=settings.resume,
        resume_from=settings.resume_from,
        fork_from=settings.fork_from,
        program=program,
    )
    return plan, claim_attempt(home.run_dir(plan.path))


def _open(recorder: Recorder, plan: Plan, config: dict[str, Any], program: str, *, is_primary: bool) -> Run:
    settings = recorder.settings
    attributes = first_attributes(settings, plan, program)
    recorder.start(
        ev.Started(
            time_ns=recorder.started_ns,
            primary=is_primary,
            from_step=plan.from_step,
            forked_from=str(plan.forked_from) if plan.forked_from else None,
            fork_step=plan.fork_step,
            ends_run=settings.update_finish_state,
            attributes=attributes,
        )
    )
    run = Run(recorder, plan, attributes, plan.config if plan.resumed else {})
    # A fork takes its parent's config over as its own; a resumed run may change what it finds.
    run.config.update(config if plan.resumed else {**plan.config, **config}, allow_val_change=plan.resumed or None)
    recorder.announce(describe=settings.describe and is_primary)
    _watch_process(run)
    if is_primary:
        run._start_console()
        where = recorder.run_dir.path
        recorder.terminal.write(start_line(attributes, recorder.path, where, recorder.terminal, url=run.url))
        _save_code(run, settings, program)
    current.add_run(run, is_current=settings.reinit != "create_new")
    return run


def _watch_process(run: Run) -> None:
    run._watch_exit = ExitWatch(run._finish_at_exit)
    run._watch_exit.install()


def _save_code(run: Run, settings: Resolved, program: str) -> None:
    if settings.disable_code:
        return
    if settings.code_dir is not None:
        if settings.code_dir.is_dir():
            run.log_code(str(settings.code_dir))
        else:
            run._recorder.warn(f"code_dir is {settings.code_dir}, which is no directory; no code is saved")
    elif settings.save_code and os.path.isfile(program):
        run.save(program, base_path=os.path.dirname(os.path.abspath(program)), policy="now")


def _start_disabled(settings: Resolved, config: dict[str, Any]) -> Run:
    from strobe.sdk.disabled import DisabledRun

    attributes = {
        "id": settings.run_id,
        "name": settings.run_name,
        "project": settings.project,
        "entity": settings.entity,
        "group": settings.run_group,
        "job_type": settings.run_job_type,
        "tags": settings.run_tags,
    }
    # A DisabledRun answers to everything that a Run does; for a type checker it is one.
    run = cast(Run, DisabledRun(settings, detached(config), attributes))
    current.add_run(run, is_current=settings.reinit != "create_new")
    return run


def _writable(home: Home) -> Home:
    home.runs.mkdir(parents=True, exist_ok=True)
    if not os.access(home.runs, os.W_OK):
        raise PermissionError(errno.EACCES, "not writable")
    return home


def _fallback_home() -> Home:
    """Return a home in the temporary directory."""
    import tempfile

    user = os.getuid() if hasattr(os, "getuid") else "user"
    home = Home(Path(tempfile.gettempdir()) / f"strobe-{user}")
    try:
        home.path.mkdir(mode=0o700, exist_ok=True)
        if not hasattr(os, "getuid") or home.path.lstat().st_uid == user:
            return _writable(home)
    except OSError:
        pass
    return _writable(Home(Path(tempfile.mkdtemp(prefix="strobe-"))))  # somebody else has taken the name
