"""Resuming, rewinding and forking: what a new start of a run has to do with what is on disk already.

`plan_start` decides before anything is written: which run, which attempt may begin, at which step it goes on, and what
of the past it supersedes. It reads journals and writes none.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import msgspec

from strobe.errors import RunExists, RunNotFound, UsageError
from strobe.home import Home, RunDir, RunPath, check_name
from strobe.sdk.name import generate_id

if TYPE_CHECKING:
    from strobe.journal.replay import Replay

_MOMENT = re.compile(r"(?P<run>[^?]+)\?_step=(?P<step>\d+)")


class Plan(msgspec.Struct):
    """How a run begins."""

    path: RunPath
    resumed: bool = False
    #: the first step that log() counts from
    starting_step: int = 0
    #: rows of earlier attempts from here on are superseded, whatever their key
    from_step: int | None = None
    forked_from: RunPath | None = None
    fork_step: int | None = None
    #: config taken over from the past of this run, or from the run it was forked from
    config: dict[str, Any] = {}
    attributes: dict[str, Any] = {}


def plan_start(
    home: Home,
    entity: str,
    project: str,
    run_id: str | None,
    *,
    resume: str | None = None,
    resume_from: str | None = None,
    fork_from: str | None = None,
    program: str = "",
) -> Plan:
    """Return how the run begins, or raise UsageError if what is asked for contradicts what is there."""
    _only_one(resume, resume_from, fork_from)
    if resume_from is not None:
        return _plan_rewind(home, entity, project, run_id, resume_from)
    if fork_from is not None:
        return _plan_fork(home, entity, project, run_id, fork_from)
    if resume == "auto" and run_id is None:
        run_id = _find_unfinished(home, entity, project, program)
    if run_id is None:
        if resume == "must":
            raise UsageError('resume="must" needs the id of the run to resume; pass id=… or set STROBE_RUN_ID')
        return Plan(RunPath(entity, project, generate_id()))
    path = RunPath(entity, project, check_name("run id", run_id))
    if not home.run_dir(path).exists():
        if resume == "must":
            raise _missing(home, path)
        return Plan(path)
    if resume == "never":
        raise _exists(home, path)
    if resume is None:
        # The id is used again without a word about resuming: the run begins anew, the old attempt stays readable.
        return Plan(path, from_step=0)
    return _continue(home, path)


def plan_joint(
    home: Home,
    path: RunPath,
    attempt: int,
    *,
    resume: str | None = None,
    resume_from: str | None = None,
    fork_from: str | None = None,
) -> Plan:
    """Return how `attempt` of a run begins that several processes write: the same for all of them.

    Only what lies before that attempt counts, since another process may have begun to write already.
    """
    _only_one(resume, resume_from, fork_from)
    if resume_from is not None:
        return _plan_rewind(home, path.entity, path.project, path.id, resume_from, before=attempt)
    if attempt > 1:
        if resume == "never":
            raise _exists(home, path)
        return _continue(home, path, before=attempt)
    if resume == "must":
        raise _missing(home, path)
    return Plan(path) if fork_from is None else _branch(home, path, fork_from)


def _continue(home: Home, path: RunPath, *, before: int | None = None) -> Plan:
    past = _replay(home, path, before=before)
    last = past.last_step
    return Plan(
        path,
        resumed=True,
        starting_step=0 if last is None else last + 1,
        config=past.config,
        attributes=past.attributes,
    )


def _plan_rewind(
    home: Home, entity: str, project: str, run_id: str | None, moment: str, *, before: int | None = None
) -> Plan:
    name, step = parse_moment("resume_from", moment)
    path = RunPath.parse(name, entity=entity, project=project)
    if run_id is not None and run_id != path.id:
        raise UsageError(
            f"resume_from names run {path.id!r} but id is {run_id!r}; a rewind keeps the id, a fork changes it"
        )
    _require(home, path, "resume_from")
    plan = _continue(home, path, before=before)
    plan.from_step = plan.starting_step = step + 1
    return plan


def _plan_fork(home: Home, entity: str, project: str, run_id: str | None, moment: str) -> Plan:
    path = RunPath(entity, project, check_name("run id", run_id or generate_id()))
    if home.run_dir(path).exists():
        raise RunExists(f"fork_from makes a new run, but {path} exists; choose another id")
    return _branch(home, path, moment)


def _branch(home: Home, path: RunPath, moment: str) -> Plan:
    name, step = parse_moment("fork_from", moment)
    parent = RunPath.parse(name, entity=path.entity, project=path.project)
    _require(home, parent, "fork_from")
    return Plan(path, starting_step=step + 1, forked_from=parent, fork_step=step, config=_replay(home, parent).config)


def _only_one(*given: str | None) -> None:
    if sum(option is not None for option in given) > 1:
        raise UsageError("give only one of resume, resume_from and fork_from")


def _missing(home: Home, path: RunPath) -> RunNotFound:
    return RunNotFound(f'resume="must", but there is no run {path} in {home.path}; check the id and the project')


def _exists(home: Home, path: RunPath) -> RunExists:
    return RunExists(f'resume="never", but run {path} exists in {home.path}; choose another id or resume="allow"')


def parse_moment(name: str, moment: str) -> tuple[str, int]:
    """Split `"run?_step=k"` into the run and the step."""
    match = _MOMENT.fullmatch(moment)
    if match is None:
        raise UsageError(f'{name}={moment!r} is not understood; write "<run id>?_step=<number>"')
    return match["run"], int(match["step"])


def _require(home: Home, path: RunPath, option: str) -> None:
    if not home.run_dir(path).exists():
        raise RunNotFound(f"{option} names run {path}, which is not in {home.path}")


def _find_unfinished(home: Home, entity: str, project: str, program: str) -> str | None:
    """Return the run that this program started last in the project, if it did not end well."""
    from strobe.journal.skim import Skim

    runs = list(home.iter_runs(entity=entity, project=project))
    for run_dir in sorted(runs, key=_last_start, reverse=True):
        skim = Skim(run_dir)
        if skim.attributes.get("program") == program:
            return run_dir.path.name if skim.state in {"crashed", "failed", "killed", "preempted"} else None
    return None


def _last_start(run_dir: RunDir) -> float:
    try:
        return os.stat(run_dir.attempts).st_mtime  # each attempt makes a file there
    except OSError:
        return 0.0


def _replay(home: Home, path: RunPath, *, before: int | None = None) -> Replay:
    from strobe.journal.replay import Replay

    replay = Replay(home.run_dir(path), before=before)
    replay.refresh()
    return replay
