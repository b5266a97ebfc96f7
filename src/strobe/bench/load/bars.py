"""Bars: what a measurement must reach, and whether it did.

A bar compares Strobe with a peer of the same run (a ratio, since absolute times are noise), or with a fixed
amount where that is the promise (bytes, steps lost). What could not be measured has not reached its bar. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from strobe.bench import stats
from strobe.bench.load.results import model_of
from strobe.bench.records import Record
from strobe.bench.table import format_value, markdown

#: `best`, the least disturbed repetition, for CPU time, which other processes can only add to; else `median`
Summary = Literal["best", "median"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One promise. `at_most` is a ratio to the peer's value, or an amount if there is no peer."""

    measure: str
    profile: str
    metric: str
    at_most: float
    peer: str | None = None
    summary: Summary = "median"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a bar. `seen` is in the unit of `at_most`; None when it could not be measured."""

    bar: Bar
    value: float | None
    peer_value: float | None
    seen: float | None
    unit: str
    reason: str = ""

    @property
    def is_reached(self) -> bool:
        return self.seen is not None and self.seen <= self.bar.at_most


def judge(bar: Bar, records: Sequence[Record], subject: str = "strobe") -> Verdict:
    """Hold the records of one run against a bar."""
    mine = _find(records, bar, subject)
    if mine is None or mine.error:
        return Verdict(bar, None, None, None, "", mine.error or "failed" if mine else "not measured")
    value = _summarize(mine, bar.summary)
    if bar.peer is None:
        return Verdict(bar, value, None, value, mine.unit)
    theirs = _find(records, bar, bar.peer)
    if theirs is None or theirs.error:
        reason = f"{bar.peer}: {theirs.error}" if theirs else f"{bar.peer} was not measured"
        return Verdict(bar, value, None, None, mine.unit, reason)
    peer_value = _summarize(theirs, bar.summary)
    if peer_value <= 0:
        return Verdict(bar, value, peer_value, None, mine.unit, f"{bar.peer} measured nothing")
    return Verdict(bar, value, peer_value, value / peer_value, mine.unit)


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as a Markdown table."""
    header = ("measure", "value", "peer", "ratio", "bar", "")
    return markdown(header, [_cells(verdict) for verdict in verdicts])


def _cells(verdict: Verdict) -> list[str]:
    bar, unit = verdict.bar, verdict.unit
    value = "" if verdict.value is None else format_value(verdict.value, unit)
    mark = "pass" if verdict.is_reached else f"MISSED{f' ({verdict.reason})' if verdict.reason else ''}"
    if bar.peer is None:
        return [bar.measure, value, "", "", f"≤ {format_value(bar.at_most, unit)}", mark]
    peer = bar.peer if verdict.peer_value is None else f"{bar.peer} {format_value(verdict.peer_value, unit)}"
    ratio = "" if verdict.seen is None else format_ratio(verdict.seen)
    return [bar.measure, value, peer, ratio, f"≤ {format_ratio(bar.at_most)} × {bar.peer}", mark]


def format_ratio(value: float) -> str:
    """Write a small ratio as a fraction, the way bars are spoken of: 0.6, 1/40."""
    if 0 < value < 0.15:
        return f"1/{1 / value:.3g}" if 1 / value < 1000 else f"1/{1 / value:,.0f}"
    return f"{value:.3g}"


def _find(records: Sequence[Record], bar: Bar, subject: str) -> Record | None:
    wanted = (model_of(bar.profile), subject, bar.metric)
    return next((one for one in records if (one.model, one.subject, one.metric) == wanted), None)


def _summarize(record: Record, summary: Summary) -> float:
    return min(record.samples) if summary == "best" else stats.median(record.samples)
