"""Tables say what was measured, by how much it is better, and when nobody can tell."""

from __future__ import annotations

from strobe.bench.load import report
from strobe.bench.records import Record


def _record(subject: str, samples: tuple[float, ...], **changes: object) -> Record:
    fields: dict[str, object] = {
        "benchmark": "load-v1-empty/strobe/time_load/offline",
        "model": "load-v1-empty",
        "subject": subject,
        "variant": {"mode": "offline"},
        "metric": "time_load",
        "unit": "s",
        "samples": samples,
        **changes,
    }
    return Record(**fields)  # type: ignore[arg-type]


def _title(benchmark: str, metric: str) -> str:
    return "Startup/Shutdown Time"


def test_improvement_over_the_baseline() -> None:
    table = report.improvement_table([_record("strobe", (0.01,) * 3), _record("wandb", (1.0,) * 3)], _title)
    lines = table.splitlines()
    assert len(lines) == 3
    assert "| Startup/Shutdown Time | v1-empty | Offline | 1 s (n=3) | strobe   | 10 ms (n=3) |" in lines[2]
    assert "99.00% improvement, 100× faster" in lines[2]


def test_a_failure_stands_in_the_table() -> None:
    table = report.improvement_table([_record("strobe", (0.01,)), _record("aim", (), error="races")], _title)
    assert "failed: races" in table
    assert "cannot tell" in table


def test_one_subject_alone_has_no_improvement() -> None:
    table = report.improvement_table([_record("jsonl", (0.5, 0.5))], _title)
    assert "500 ms" in table
    assert "improvement," not in table
    assert report.improvement_table([], _title) == ""


def test_the_baseline_is_wandb_then_the_last() -> None:
    records = [_record("a", (1.0,)), _record("wandb", (1.0,)), _record("b", (1.0,))]
    assert report.pick_baseline(records) is records[1]
    assert report.pick_baseline(records[::2]) is records[2]
    assert report.pick_baseline(records, "a") is records[0]


def test_variants_of_one_tracker_are_compared_with_the_first() -> None:
    records = [
        _record("strobe", (1.0,) * 2, variant={"mode": "offline", "agent": "on"}),
        _record("strobe", (0.5,) * 2, variant={"mode": "offline", "agent": "off"}),
    ]
    lines = report.improvement_table(records, _title).splitlines()
    assert len(lines) == 3
    assert "strobe agent=off" in lines[2]
    assert "50% improvement, 2.00× faster" in lines[2]


def test_memory_is_less_not_faster() -> None:
    records = [_record("strobe", (1e6,) * 2, unit="B"), _record("wandb", (4e6,) * 2, unit="B")]
    assert "75% improvement, 4.00× less" in report.improvement_table(records, _title)


def test_instability_is_told_with_the_remedy() -> None:
    (warning,) = report.unstable([_record("wandb", (1.0, 2.0, 3.0)), _record("strobe", (1.0, 1.0))])
    assert "wandb" in warning
    assert "--repeat" in warning


def test_nothing_left_has_a_share_but_no_factor() -> None:
    records = [_record("strobe", (0.0,) * 2, unit="modules"), _record("wandb", (1.0,) * 2, unit="modules")]
    assert "| 100.00% improvement |" in report.improvement_table(records, _title)
