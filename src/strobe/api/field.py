"""The fields that filters and orders name: id, state, config.lr, summary_metrics.loss, …, as a run has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from strobe.api.filter import ABSENT, dig
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


def named_fields(filters: Any) -> Iterable[str]:
    """Yield the fields that a filter names."""
    for key, condition in (filters or {}).items():
        if key in ("$and", "$or", "$nor"):
            for part in condition:
                yield from named_fields(part)
        elif key == "$not":
            yield from named_fields(condition)
        else:
            yield key


def split_order(order: str) -> tuple[bool, str]:
    """Return whether an order is a falling one, and its field."""
    return order.startswith("-"), order.lstrip("+-")


class _Falling:
    """A key that sorts the other way round."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: _Falling) -> bool:
        return bool(other.key < self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Falling) and bool(self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)


def place(run: Run, order: str) -> tuple[Any, ...]:
    """Return what runs are sorted by: those that lack the field come last, whichever way round."""
    descending, field = split_order(order)
    found = run.created_ns if field in ("created_at", "createdAt") else lookup(run, field)
    if not isinstance(found, (int, float, str)) or found != found:
        return (True, 0, run.created_ns)
    # Numbers before text, so that a key of mixed kinds still has an order; ties by creation, so that it is stable.
    key = (isinstance(found, str), found)
    return (False, _Falling(key) if descending else key, run.created_ns)
