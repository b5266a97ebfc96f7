"""Runs side by side: their config, the environment they ran in, and what came out."""

from __future__ import annotations

from collections.abc import Sequence

from strobe.api.diff import DiffRow, diff_mappings
from strobe.api.run import Run
from strobe.errors import UsageError

#: facts that differ between any two runs and explain nothing
_NOISE = ("pid", "started_at", "sys_path", "writer", "boot_id", "pid_namespace", "pid_started")


def compare(runs: Sequence[Run], *, ignore: Sequence[str] = (), everything: bool = False) -> list[DiffRow]:
    """Return the differences in config, environment and summary, in this order; all keys with `everything`."""
    if len(runs) < 2:
        raise UsageError(f"a comparison needs at least two runs, got {len(runs)}")
    environments = [{key: item for key, item in run.metadata.items() if key not in _NOISE} for run in runs]
    rows = []
    for section, mappings in (
        ("config", [run.config for run in runs]),
        ("environment", environments),
        ("summary", [run.summary for run in runs]),
    ):
        rows += diff_mappings(section, mappings, ignore=ignore, everything=everything)
    return rows
