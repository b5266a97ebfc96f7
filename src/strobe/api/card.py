"""A run on one page: everything `strobe run show` and `strobe run ls` tell, as plain values.

The keys here are the documented schema of `--json` (docs/cli.md): they are added to, never renamed.
"""

from __future__ import annotations

from typing import Any

from strobe.api.facts import iso_time
from strobe.api.record import Attempted
from strobe.api.run import Run
from strobe.journal.digest import MetricDigest

#: the columns of `run ls --csv`, in this order
LISTED = (
    "id", "name", "entity", "project", "state", "created_at", "runtime_s", "rows", "last_step", "tags", "group",
    "job_type", "directory",
)  # fmt: skip


def list_item(run: Run) -> dict[str, Any]:
    """Return what a list shows of a run; needs no replay."""
    return {
        "id": run.id,
        "name": run.name,
        "entity": run.entity,
        "project": run.project,
        "state": run.state,
        "created_at": run.created_at,
        "runtime_s": run.runtime_s,
        "rows": run.num_rows,
        "last_step": run.last_step,
        "tags": run.tags,
        "group": run.group,
        "job_type": run.job_type,
        "directory": run.directory,
        "url": run.url,
    }


def card(run: Run) -> dict[str, Any]:
    """Return the whole page."""
    replay = run.replay
    files = list(run.files())
    return {
        **list_item(run),
        "last_step": replay.last_step,
        "notes": run.notes,
        "ended_at": None if run.ended_ns is None else iso_time(run.ended_ns),
        "exit_code": replay.exit_code,
        "error": replay.error,
        "rejected": replay.rejected,
        "own_share": replay.share,
        "config": run.config,
        "summary": dict(run.summary),
        "metrics": {key: metric(digest) for key, digest in replay.metrics.items()},
        "attempts": [_attempt(attempt) for attempt in replay.attempts],
        "files": {"count": len(files), "bytes": sum(file.size for file in files)},
        "artifacts": [
            {"action": use.action, "name": use.name, "type": use.kind, "version": use.version, "aliases": use.aliases}
            for use in replay.artifacts
        ],
        "alerts": [{"title": alert.title, "text": alert.text, "level": alert.level} for alert in replay.alerts],
        "damages": [
            {"segment": name, "start": damage.start, "end": damage.end, "reason": damage.reason}
            for name, damage in replay.damages
        ],
        "metadata": run.metadata,
    }


def metric(digest: MetricDigest) -> dict[str, Any]:
    """Return a metric's figures; min, max, mean and best are of the finite values and None when there are none."""
    finite = digest.num_finite > 0
    return {
        "count": digest.count,
        "last": digest.last,
        "last_step": digest.last_step,
        "min": digest.min if finite else None,
        "min_step": digest.min_step,
        "max": digest.max if finite else None,
        "max_step": digest.max_step,
        "mean": digest.mean,
        "best": digest.best,
        "best_step": digest.best_step if finite else None,
        "goal": digest.goal,
        "nan": digest.nan,
        "posinf": digest.posinf,
        "neginf": digest.neginf,
        "spark": digest.spark,
    }


def _attempt(attempt: Attempted) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "state": attempt.state,
        "started_at": None if attempt.started_ns is None else iso_time(attempt.started_ns),
        "ended_at": None if attempt.ended_ns is None else iso_time(attempt.ended_ns),
        "from_step": attempt.from_step,
        "writers": sorted(attempt.writers),
        "rejected": attempt.rejected,
    }
