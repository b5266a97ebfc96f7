"""Which metrics a person wants to see first. Which way is better for each, its digest tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from strobe.journal.digest import MetricDigest
    from strobe.journal.event import Metric

_HELD_OUT = frozenset(("val", "valid", "validation", "eval", "evaluation", "test", "dev"))
_BOOKKEEPING = frozenset(
    ("epoch", "epochs", "step", "steps", "global", "iteration", "iter", "lr", "time", "timestamp", "runtime", "seconds")
)
_DETAIL = ("gradients/", "parameters/", "system/", "system.", "_")


def by_relevance(
    metrics: Mapping[str, MetricDigest], definition: Callable[[str], Metric | None] = lambda name: None
) -> list[tuple[str, MetricDigest]]:
    """Return metrics, the ones that tell most first, without those that the user hid.

    First what the user gave a goal, then what has a direction by its name (held-out data before training), then the
    rest, then what only counts or never changes, and details such as gradients last.
    """
    ranked = []
    for name, digest in metrics.items():
        defined = definition(name)
        if defined is None or not defined.hidden:
            has_goal = defined is not None and defined.goal is not None
            ranked.append((0 if has_goal else _rank(name, digest), name, digest))
    return [(name, digest) for _, name, digest in sorted(ranked, key=lambda item: item[:2])]


def _rank(name: str, digest: MetricDigest) -> int:
    if name.startswith(_DETAIL):
        return 5
    words = set(re.findall(r"[a-z]+[0-9]*", name.lower().replace("_", " ")))
    if digest.goal is not None:
        return 1 if words & _HELD_OUT else 2
    return 4 if words <= _BOOKKEEPING or digest.min == digest.max else 3
