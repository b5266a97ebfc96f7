"""From what a person types to the run that is meant: an id, its start or end, a name, `latest`, `project/…`.

An answer is given only when there is exactly one; otherwise the candidates are named.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strobe.api.run import Run
from strobe.errors import RunNotFound, UsageError
from strobe.home import RunPath

if TYPE_CHECKING:
    from strobe.api.record import Source

LATEST = "latest"
_MAX_SHOWN = 10


def resolve(source: Source, reference: str, *, entity: str | None = None, project: str | None = None) -> Run:
    """Return the one run that `reference` means. Raises RunNotFound, or UsageError when several are meant."""
    *where, last = [part for part in reference.strip("/").split("/") if part and part != "runs"] or [""]
    if not last or len(where) > 2:
        raise UsageError(f"{reference!r} is not a run; write an id, a name, latest, project/id or entity/project/id")
    project = where[-1] if where else project
    entity = where[0] if len(where) == 2 else entity
    if last == LATEST:
        newest = next(iter(source.runs(entity, project, filters=None, order="-created_at", per_page=1)), None)
        return _none(source, project) if newest is None else Run(newest)
    if entity and project and (exact := source.record(RunPath(entity, project, last))) is not None:
        return Run(exact)
    runs = [Run(record) for record in source.candidates(last, entity, project)]
    if not runs:
        _none(source, project)
    return _only(reference, _matches(last, runs)) or _fail(source, reference, last, runs)


def _none(source: Source, project: str | None) -> Run:
    place = f" in project {project}" if project else ""
    raise RunNotFound(f"there are no runs{place} in {source.place}; `{source.fill_command}` gets some there")


def _matches(text: str, runs: list[Run]) -> list[Run]:
    if exact := [run for run in runs if run.id == text]:
        return exact
    by_prefix = [run for run in runs if run.id.startswith(text)]
    if len(by_prefix) == 1:
        return by_prefix
    # Names need every run's journal; ids were only directory names.
    named = [run for run in runs if run.name == text]
    # Ids of benchmarks' results begin with the time: tables show their end.
    return named or by_prefix or [run for run in runs if run.id.endswith(text)]


def _only(reference: str, candidates: list[Run]) -> Run | None:
    if len(candidates) > 1:
        shown = [f"  {run.project}/{run.id}  {run.name}" for run in _newest_first(candidates)[:_MAX_SHOWN]]
        more = f"\n  … and {len(candidates) - _MAX_SHOWN} more" if len(candidates) > _MAX_SHOWN else ""
        raise UsageError(f"{reference!r} means {len(candidates)} runs; be more exact:\n" + "\n".join(shown) + more)
    return candidates[0] if candidates else None


def _fail(source: Source, reference: str, text: str, runs: list[Run]) -> Run:
    import difflib

    near = difflib.get_close_matches(text, {run.id for run in runs} | {run.name for run in runs}, n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else f"`{source.list_command}` lists those there are"
    raise RunNotFound(f"no run {reference!r} in {source.place}; {hint}")


def _newest_first(runs: Iterable[Run]) -> list[Run]:
    return sorted(runs, key=lambda run: run.created_ns, reverse=True)
