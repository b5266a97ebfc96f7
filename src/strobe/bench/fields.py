"""A result as plain values, for JSON, CSV, the config and summary of its run, and the page of results. Pure."""

from __future__ import annotations

from typing import Any

from strobe.bench import stats
from strobe.bench.records import Record
from strobe.bench.table import signs


def as_fields(record: Record) -> dict[str, Any]:
    """Return a row for machines: JSON and CSV have the same fields."""
    found = record.digest() if record.samples else None
    latency, correctness, roofline = record.latency, record.correctness, record.roofline
    noisy = dict.fromkeys(reason for repeat in record.repeats for reason in repeat.noisy)
    return {
        "id": record.id,
        "model": record.model,
        "implementation": record.subject,
        "mode": record.mode,
        "config": record.config,
        "batch_size": record.batch_size,
        "score": found.median if found else None,
        "units": record.unit,
        "signs": signs(record),
        "spread": found.spread if found else None,
        "repeats": len(record.samples),
        "metric": record.metric,
        "better": record.better,
        "version": record.version,
        "seal": record.seal,
        "owner": record.owner,
        "latency_status": latency.status if latency else None,
        "latency_limit_ms": latency.limit_ms if latency else None,
        "latency_percentile": latency.percentile if latency else None,
        "p50_ms": latency.p50_ms if latency else None,
        "p90_ms": latency.p90_ms if latency else None,
        "p95_ms": latency.p95_ms if latency else None,
        "p99_ms": latency.p99_ms if latency else None,
        "is_correct": correctness.is_correct if correctness else None,
        "output_error": correctness.error if correctness else None,
        "output_tolerance": correctness.tolerance if correctness else None,
        "roofline_fraction": roofline.fraction if roofline else None,
        "roofline_bound": roofline.bound if roofline else None,
        "flops": record.work.flops if record.work else None,
        "bytes": record.work.bytes if record.work else None,
        "peak_flops": roofline.peak_flops if roofline else None,
        "peak_bytes_per_s": roofline.peak_bytes_per_s if roofline else None,
        "energy_j_per_example": record.energy_j_per_example,
        "cpu_s": stats.median(cpu_s) if (cpu_s := [one for repeat in record.repeats for one in repeat.cpu_s]) else None,
        "inner_loops": max((repeat.inner_loops for repeat in record.repeats), default=None),
        "load_before": max((load for one in record.repeats if (load := one.load_before) is not None), default=None),
        "steal_percent": max((part for one in record.repeats if (part := one.steal_percent) is not None), default=None),
        "setup_s": max((repeat.setup_s for repeat in record.repeats), default=None),
        "compile_s": max((repeat.compile_s for repeat in record.repeats), default=None),
        "peak_rss_bytes": max((repeat.peak_rss_bytes for repeat in record.repeats), default=None),
        "peak_card_bytes": max((size for one in record.repeats if (size := one.peak_card_bytes)), default=None),
        "devices": record.devices,
        "nodes": record.nodes,
        "device": record.device,
        "threads": record.num_threads or None,
        "is_trial": record.is_trial,
        "is_confirmation": record.is_confirmation,
        "is_changed": record.is_changed,
        "noisy": "; ".join(noisy),
        "error": record.error,
        "fingerprint": record.environment.fingerprint,
        "softprint": record.environment.softprint,
        "host": record.environment.host,
        "git_commit": record.environment.git_commit,
        "is_dirty": record.environment.is_dirty,
        "started_at": record.environment.started_at,
        "command": record.command,
    }


#: their names, in order; all records have all of them
FIELDS = tuple(as_fields(Record(benchmark="", subject="", metric="", unit="")))
