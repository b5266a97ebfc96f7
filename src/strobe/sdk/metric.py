"""`define_metric`: what a metric's x axis is, and which figure of it goes into the summary."""

from __future__ import annotations

from time import time_ns

from strobe.errors import UsageError
from strobe.journal.event import Metric

SUMMARY_MODES = ("min", "max", "mean", "first", "last", "best", "copy", "none")
_GOALS = {"maximize": "maximize", "max": "maximize", "minimize": "minimize", "min": "minimize"}


def define(
    name: str,
    step_metric: str | Metric | None = None,
    step_sync: bool | None = None,
    hidden: bool | None = None,
    summary: str | None = None,
    goal: str | None = None,
    overwrite: bool | None = None,
) -> Metric:
    """Return the definition, or raise UsageError for a word that is not known."""
    if not isinstance(name, str) or not name:
        raise UsageError(f"define_metric needs the name of a metric or a pattern, got {name!r}")
    if step_metric is not None and not isinstance(step_metric, (str, Metric)):
        raise UsageError(f"define_metric({name!r}): step_metric={step_metric!r} is not the name of a metric")
    modes = [mode.strip().lower() for mode in summary.split(",") if mode.strip()] if summary else []
    for mode in modes:
        if mode not in SUMMARY_MODES:
            raise UsageError(f"define_metric({name!r}): summary={mode!r} is not known; use {', '.join(SUMMARY_MODES)}")
    if goal is not None and goal not in _GOALS:
        raise UsageError(f"define_metric({name!r}): goal={goal!r} is not known; use maximize or minimize")
    if goal is None and "best" in modes:
        goal = "minimize"
    return Metric(
        time_ns=time_ns(),
        name=name,
        step_metric=step_metric.name if isinstance(step_metric, Metric) else step_metric,
        # A metric plotted over another wants that other in its rows, unless the caller says no.
        step_sync=True if step_sync is None and step_metric is not None else step_sync,
        hidden=hidden,
        summary=modes,
        goal=_GOALS[goal] if goal else None,
        overwrite=bool(overwrite),
    )
