"""Many runs: chosen by a filter, put in order, and read only as far as that needs.

    order: "+created_at" or "-created_at", and likewise name, state, runtime, config.<key>, summary_metrics.<key>

Runs that lack what they are ordered by come last, whichever way round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, overload

from strobe.api.filter import ABSENT, compile_filter, dig
from strobe.api.run import Run
from strobe.errors import UsageError

_FIELDS: dict[str, Callable[[Run], Any]] = {
    "id": lambda run: run.id,
    "name": lambda run: run.name,
    "display_name": lambda run: run.name,
    "displayName": lambda run: run.name,
    "state": lambda run: run.state,
    "tags": lambda run: run.tags,
    "notes": lambda run: run.notes,
    "group": lambda run: run.group,
    "job_type": lambda run: run.job_type,
    "jobType": lambda run: run.job_type,
    "project": lambda run: run.project,
    "entity": lambda run: run.entity,
    "username": lambda run: run.user.username,
    "created_at": lambda run: run.created_at,
    "createdAt": lambda run: run.created_at,
    "runtime": lambda run: run.runtime_s,
}
_MAPPINGS: dict[str, Callable[[Run], Mapping[str, Any]]] = {
    "config": lambda run: run.config,
    "summary": lambda run: run.summary,
    "summary_metrics": lambda run: run.summary,
    "summaryMetrics": lambda run: run.summary,
    "metadata": lambda run: run.metadata,
}


class Runs(Sequence[Run]):
    """Runs in order. Nothing is read before the first is asked for; then once."""

    def __init__(self, candidates: Iterable[Run], *, filters: Mapping[str, Any] | None, order: str | None) -> None:
        self._candidates = candidates
        self._matches = compile_filter(filters)
        self._order = order or "+created_at"
        check_field(_split_order(self._order)[1])
        for name in _named_fields(filters):
            check_field(name)
        self._runs: list[Run] | None = None

    @property
    def _found(self) -> list[Run]:
        if self._runs is None:
            chosen = [run for run in self._candidates if self._matches(partial(lookup, run))]
            self._runs = _sorted(chosen, self._order)
        return self._runs

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | list[Run]:
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<Runs {len(self)}>"

    def histories(self, keys: Sequence[str] | None = None, samples: int | None = None, x_axis: str = "_step") -> Any:
        """Return the histories of all runs, each row with its `run_id`: a DataFrame if pandas is there, else dicts."""
        from strobe.api import history

        rows = [
            {"run_id": run.id, **row}
            for run in self
            for row in run.history(keys=keys, samples=samples, x_axis=x_axis, pandas=False)
        ]
        return history.data_frame(rows) if history.has_pandas() else rows


def lookup(run: Run, field: str) -> Any:
    """Return a field of a run by the name that filters and orders use; ABSENT if it has none of that name."""
    if field in _FIELDS:
        found = _FIELDS[field](run)
        return ABSENT if found is None else found
    section, _, key = field.partition(".")
    mapping = _MAPPINGS[section](run)
    found = dig(mapping, key)
    if found is ABSENT and key.endswith(".value"):  # wandb's server stores config as {"lr": {"value": 0.1}}
        found = dig(mapping, key.removesuffix(".value"))
    return found


def check_field(field: str) -> None:
    """Raise UsageError if runs have no such field."""
    section, dot, key = field.partition(".")
    if field not in _FIELDS and not (section in _MAPPINGS and dot and key):
        known = ", ".join(name for name in _FIELDS if name.islower())
        raise UsageError(f"runs have no field {field!r}; there are {known}, config.<key> and summary_metrics.<key>")


def _named_fields(filters: Any) -> Iterable[str]:
    for key, condition in (filters or {}).items():
        if key in ("$and", "$or", "$nor"):
            for part in condition:
                yield from _named_fields(part)
        elif key == "$not":
            yield from _named_fields(condition)
        else:
            yield key


def _split_order(order: str) -> tuple[bool, str]:
    return order.startswith("-"), order.lstrip("+-")


def _sorted(runs: list[Run], order: str) -> list[Run]:
    descending, field = _split_order(order)
    with_key = [
        (lookup(run, field) if field not in ("created_at", "createdAt") else run.created_ns, run) for run in runs
    ]
    placed = [(key, run) for key, run in with_key if isinstance(key, (int, float, str)) and key == key]
    missing = [run for key, run in with_key if not (isinstance(key, (int, float, str)) and key == key)]
    # Numbers before text, so that a key of mixed kinds still has an order; ties by creation, so that it is stable.
    placed.sort(key=lambda item: item[1].created_ns)
    placed.sort(key=lambda item: (isinstance(item[0], str), item[0]), reverse=descending)
    return [run for _, run in placed] + missing
