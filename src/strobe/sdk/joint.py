"""One run written by several processes: ranks of a job, or `mode="shared"`.

Each process decides for itself, and all come to the same answer: which run they mean, which attempt they are part of,
and at which step it begins. One of them, the primary, speaks for the run: its names, its end.
"""

from __future__ import annotations

from strobe.errors import UsageError
from strobe.home import Home, RunDir, RunPath, check_name
from strobe.sdk.claim import claim_after, join_launch, latest
from strobe.sdk.name import generate_id, id_of
from strobe.sdk.rank import Place
from strobe.sdk.resume import Plan, parse_moment, plan_joint
from strobe.settings import Resolved

#: how often this process has started a run of that job and id: a second one is not the first one again
_starts: dict[str, int] = {}


def is_joint(settings: Resolved, place: Place) -> bool:
    """Return whether other processes write the same run."""
    return settings.mode == "shared" or (settings.ranks == "all" and not place.is_alone)


def is_primary(settings: Resolved, place: Place) -> bool:
    """Return whether this process speaks for the run."""
    return settings.primary and place.rank == 0


def join_run(home: Home, entity: str, project: str, settings: Resolved, place: Place) -> tuple[Plan, int]:
    """Return how the run begins and the number of the attempt."""
    count = _count_start(f"{project}|{settings.run_id}|{place.launch}")
    path = RunPath(entity, project, check_name("run id", _run_id(settings, place, f"{project}|{place.job}|{count}")))
    run_dir = home.run_dir(path)
    if settings.resume == "must" and not run_dir.exists():
        plan_joint(home, path, 1, resume="must")
    if place.launch:
        attempt = join_launch(run_dir, f"{place.launch}|{count}")
    else:
        attempt = _join_or_restart(run_dir, may_restart=is_primary(settings, place))
    plan = plan_joint(
        home,
        path,
        attempt,
        resume=settings.resume,
        resume_from=settings.resume_from,
        fork_from=settings.fork_from,
    )
    return plan, attempt


def _run_id(settings: Resolved, place: Place, name: str) -> str:
    if settings.run_id is not None:
        return settings.run_id
    if settings.resume_from is not None:
        return RunPath.parse(parse_moment("resume_from", settings.resume_from)[0], project="any").id
    if place.job:
        return id_of(name)
    if place.is_alone and settings.primary:
        return generate_id()  # the first of a shared run; it hands the id on
    raise UsageError("several processes write one run, but nothing tells them which; pass the same id=… to each")


def _count_start(name: str) -> int:
    _starts[name] = _starts.get(name, -1) + 1
    return _starts[name]


def _join_or_restart(run_dir: RunDir, *, may_restart: bool) -> int:
    """Join the attempt that is there; where it is over, the primary begins the next one."""
    number = latest(run_dir)
    if not number or (may_restart and _is_over(run_dir, number)):
        return claim_after(run_dir, number)
    return number


def _is_over(run_dir: RunDir, number: int) -> bool:
    """Return whether all who wrote in the attempt have ended, and one of them spoke for the run."""
    from strobe.journal.skim import Skim

    for attempt in Skim(run_dir).attempts:
        if attempt.number == number:
            had_primary = any(writer.started and writer.started.primary for writer in attempt.writers.values())
            return had_primary and all(writer.state != "running" for writer in attempt.writers.values())
    return False  # claimed just now, by somebody who is about to write
