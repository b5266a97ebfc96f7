"""A bar is reached only by what was measured."""

from __future__ import annotations

import pytest

from strobe.bench.load.bars import Bar, format_ratio, judge, verdict_table
from strobe.bench.records import Record

BAR = Bar(measure="CPU", profile="log1", metric="cpu", at_most=0.5, peer="jsonl")


def _record(subject: str, *samples: float, error: str | None = None) -> Record:
    return Record(
        benchmark="load-log1", model="load-log1", subject=subject, metric="cpu", unit="s", samples=samples, error=error
    )


def test_a_ratio_at_the_bar_is_reached() -> None:
    verdict = judge(BAR, [_record("strobe", 1.0, 2.0, 3.0), _record("jsonl", 4.0)])
    assert verdict.seen == 0.5
    assert verdict.is_reached


def test_best_takes_the_least_disturbed_repetition() -> None:
    bar = Bar(measure="CPU", profile="log1", metric="cpu", at_most=0.5, peer="jsonl", summary="best")
    assert judge(bar, [_record("strobe", 1.0, 9.0, 9.0), _record("jsonl", 4.0, 5.0)]).seen == 0.25


def test_over_the_bar_is_missed() -> None:
    assert not judge(BAR, [_record("strobe", 3.0), _record("jsonl", 4.0)]).is_reached


def test_an_amount_needs_no_peer() -> None:
    bar = Bar(measure="lost", profile="log1", metric="cpu", at_most=0)
    assert judge(bar, [_record("strobe", 0.0)]).is_reached
    assert not judge(bar, [_record("strobe", 1.0)]).is_reached


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([], "not measured"),
        ([_record("strobe", error="boom")], "boom"),
        ([_record("strobe", 1.0)], "jsonl was not measured"),
        ([_record("strobe", 1.0), _record("jsonl", error="gone")], "jsonl: gone"),
        ([_record("strobe", 1.0), _record("jsonl", 0.0)], "jsonl measured nothing"),
    ],
)
def test_what_could_not_be_measured_is_missed(records: list[Record], reason: str) -> None:
    verdict = judge(BAR, records)
    assert not verdict.is_reached
    assert verdict.reason == reason
    assert f"MISSED ({reason})" in verdict_table([verdict])


def test_the_table() -> None:
    lines = verdict_table([judge(BAR, [_record("strobe", 1e-6), _record("jsonl", 40e-6)])]).splitlines()
    assert lines[2] == "| CPU     | 1 µs  | jsonl 40 µs | 1/40  | ≤ 0.5 × jsonl | pass |"


def test_ratios_are_written_as_bars_are_spoken_of() -> None:
    assert format_ratio(0.6) == "0.6"
    assert format_ratio(1 / 40) == "1/40"
    assert format_ratio(1 / 2500) == "1/2,500"
    assert format_ratio(0.0) == "0"
