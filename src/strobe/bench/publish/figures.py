"""What the page shows, as plain values: rows per system, pairs, curves, histories, differences of environments.

Everything is decided here (verdicts, steps, which points make a curve); the page only draws, of the systems that its
reader has chosen: every part says by an `id` whose it is. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from strobe.bench import stats, table
from strobe.bench.compare import (
    Comparison,
    History,
    pair,
    pair_implementations,
    report,
)
from strobe.bench.compare.comparison import compare
from strobe.bench.compare.pairing import TRIAL, machine, newest, peculiarities, row_name
from strobe.bench.fields import as_fields
from strobe.bench.history import Series, distinctions, trace
from strobe.bench.latency import percentile
from strobe.bench.publish import environments
from strobe.bench.publish.pareto import ROUNDING, trade_offs
from strobe.bench.records import THROUGHPUT, Record
from strobe.bench.spec import without_precision

Fields = dict[str, Any]

#: points of a distribution that are drawn
_QUANTILES = 41
#: unit and metric of what a curve is made of
_CURVE = ("ex/s", THROUGHPUT)
#: percentile of the steps that is drawn where no limit names one
_TAIL = 95.0
#: so many commits are compared with each other, the newest ones
_MAX_COMMITS = 9
#: so many systems are compared with each other, those that were measured last; more would be a page of its own
_MAX_SYSTEMS = 6


def collect(records: Sequence[Record]) -> Fields:
    """Return the figures of the page; raises ValueError if there are none."""
    rows = [record for record in records if table.is_row(record)]
    if not rows:
        raise ValueError("no results of benchmarks among the records")
    by_system: dict[str, list[Record]] = defaultdict(list)
    for record in rows:
        by_system[machine(record.environment)].append(record)
    last = sorted(by_system, key=lambda name: max(one.id for one in by_system[name]))[-_MAX_SYSTEMS:]
    compared = {name: own for name, own in by_system.items() if name in last}
    history = History(rows)
    return {
        "systems": [_system(name, own, history) for name, own in by_system.items()],
        "compared_systems": list(compared),
        "between": _all_between(compared, history),
        "commits": [found for own in by_system.values() for found in _commits(own, history)],
        "history": _histories(trace(rows)),
        "rounding": ROUNDING,
        "legend": {sign: meaning for sign, meaning in table.MEANINGS.items() if sign != "~"},
    }


def _system(name: str, records: Sequence[Record], history: History) -> Fields:
    current = list(newest(records).values())
    last = environments.describe(records)
    found = compare(pair_implementations(current), history=history)
    return {
        "id": name,
        "title": table.system_title(last),
        "host": last.environment.host,
        "hardware": last.environment.hardware,
        "software": last.environment.software,
        "rows": [_row(record) for record in current],
        "pairs": _comparison(found),
        "curves": _curves(current),
        "trade_offs": trade_offs(current),
        "changes": environments.changes(records),
    }


def _row(record: Record) -> Fields:
    fields = as_fields(record)
    factor, unit = table.scale(record)
    steps_ms = [1e3 * value for repeat in record.repeats for value in repeat.wall_s]
    found = record.digest() if record.samples else None
    return {
        **fields,
        "name": row_name(record),
        "config": table.cells(record)[table.HEADER.index("Config")],
        "score_text": table.score_text(record),
        # What is drawn is in the unit that the score is told in; `score` itself is what rows are sorted by.
        "units": unit,
        "shown_score": factor * found.median if found else None,
        "samples": [factor * sample for sample in record.samples],
        "samples_are": "processes" if len(record.repeats) == len(record.samples) else "samples",
        "spread_percent": found.spread_percent if found else None,
        "is_unstable": bool(found and found.is_unstable),
        "steps_ms": _quantiles(steps_ms),
        "num_steps": len(steps_ms),
        "changes": list(record.changes),
    }


def _quantiles(values: Sequence[float]) -> list[float]:
    if len(values) <= _QUANTILES:
        return sorted(values)
    return [stats.quantile(values, index / (_QUANTILES - 1)) for index in range(_QUANTILES)]


def _comparison(found: Comparison) -> Fields:
    fields = report.as_fields(found)
    for row, texts in zip(fields["rows"], found.rows, strict=True):
        row["a_text"], row["b_text"] = (f"{text} {report.scale(texts).unit}" for text in report.scores(texts))
        row["changes"] = list(texts.b.changes)
        # A page has many comparisons, and the samples themselves once, in the results.
        row["a"], row["b"] = ({"n": len(side.samples)} for side in (texts.a, texts.b))
    return fields


def _all_between(by_system: Mapping[str, Sequence[Record]], history: History) -> list[Fields]:
    """Return every two systems, those with the most rows in common first."""
    found = [_between(a, b, by_system[a], by_system[b], history) for a, b in combinations(by_system, 2)]
    return sorted(found, key=lambda fields: -len(fields["rows"]))


def _between(a: str, b: str, of_a: Sequence[Record], of_b: Sequence[Record], history: History) -> Fields:
    fields = _comparison(compare(pair(of_a, of_b, across_systems=True), history=history))
    if not fields["rows"]:  # nothing was measured alike, and they differ all the same
        fields["environment"] = environments.between(of_a, of_b)
    return {"a": a, "b": b, **fields}


def _commits(records: Sequence[Record], history: History) -> list[Fields]:
    """Return every two of the newest commits that were measured on a system and share rows, newest first."""
    codes = _codes(sorted((one for one in records if not one.is_aside), key=lambda one: one.id))
    both = [(before, after, pair(before, after)) for before, after in combinations(codes, 2)]
    return [
        {
            "a": _code_name(before[-1]),
            "b": _code_name(after[-1]),
            "system": machine(after[-1].environment),
            **_comparison(compare(pairs, history=history)),
        }
        for before, after, pairs in sorted(both, key=lambda one: (one[1][-1].id, one[0][-1].id), reverse=True)
        if pairs.pairs
    ]


def _codes(records: Iterable[Record]) -> list[list[Record]]:
    """Return the results of each code that is compared: of the newest commits, and of the last uncommitted one."""
    commits: dict[str, list[Record]] = defaultdict(list)
    # Uncommitted code may be another one in each session.
    sessions: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        place = record.environment
        if place.git_commit and not place.is_dirty:
            commits[place.git_commit].append(record)
        else:
            sessions[place.started_at].append(record)
    # Many sessions must not push the commits out; where commits are too few to compare, sessions are what there is.
    num_sessions = 1 if len(commits) > 1 else _MAX_COMMITS
    chosen = [*list(commits.values())[-_MAX_COMMITS:], *list(sessions.values())[-num_sessions:]]
    return sorted(chosen, key=lambda code: code[0].id)


def _code_name(record: Record) -> str:
    place = record.environment
    commit = f"{place.git_commit[:8]}{'+' if place.is_dirty else ''}" if place.git_commit else "no commit"
    return f"{commit}, {place.started_at[:16].replace('T', ' ')}"


def _conditions(record: Record) -> list[str]:
    # A search's trials are points of the same line as the winner, which was measured properly.
    return [word for word in peculiarities(record) if word != TRIAL]


def _curves(records: Iterable[Record]) -> list[Fields]:
    """Return a latency–throughput picture for each task that was measured at more than one point."""
    tasks: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for record in records:
        if _has_place_on_curve(record):
            tasks[record.model, record.mode, without_precision(record.config)].append(record)
    return [_curve(" ".join(filter(None, task)), own) for task, own in tasks.items() if len(own) > 1]


def _has_place_on_curve(record: Record) -> bool:
    is_wrong = record.correctness is not None and not record.correctness.is_correct
    is_measured = bool(record.samples) and any(repeat.wall_s for repeat in record.repeats)
    return is_measured and not is_wrong and not record.is_changed and (record.unit, record.metric) == _CURVE


def _curve(title: str, records: Sequence[Record]) -> Fields:
    limit = next((record.latency for record in reversed(records) if record.latency is not None), None)
    # What a limit is drawn beside must be the percentile that it is about.
    share = limit.percentile if limit else _TAIL
    lines: dict[str, list[Fields]] = defaultdict(list)
    for record in records:
        times = [value for repeat in record.repeats for value in repeat.wall_s]
        lines[" ".join([record.subject, record.config, *_conditions(record)])].append(
            {
                "batch": record.batch_size,
                "latency_ms": 1e3 * percentile(times, share / 100),
                "score": stats.median(record.samples),
                "signs": table.signs(record),
                "limit": record.latency.status if record.latency is not None else None,
            }
        )
    return {
        "title": title,
        "limit_ms": limit.limit_ms if limit else None,
        "percentile": f"p{share:g}",
        "lines": [
            {"label": label, "points": sorted(points, key=lambda point: point["batch"] or 0)}
            for label, points in lines.items()
        ],
    }


def _histories(found: Iterable[Series]) -> list[Fields]:
    # Of each system by itself: which one it is, the page says by the others that are shown.
    by_system: dict[str, list[Series]] = defaultdict(list)
    for series in found:
        if len(series.records) > 1:
            by_system[series.machine].append(series)
    return [
        _series(series, distinction)
        for own in by_system.values()
        for series, distinction in zip(own, distinctions(own), strict=True)
    ]


def _series(series: Series, distinction: str) -> Fields:
    factor, unit = table.scale_of(series.levels[-1].value, series.records[0].unit)
    return {
        "name": series.name,
        # What tells it from others of its name, if there are any.
        "distinction": distinction,
        "system": series.machine,
        "version": series.version,
        "unit": unit,
        "better": series.records[0].better,
        "points": [_point(record, factor) for record in series.records],
        "levels": [[level.start, level.stop, factor * level.value] for level in series.levels],
        "band": series.band,
        "steps": [
            {"index": step.index, "change": step.change, "before": step.commits[0], "after": step.commits[1]}
            for step in series.steps
        ],
        "against_best": series.against_best,
        "is_worse": series.is_worse,
        "is_ended": series.is_ended,
    }


def _point(record: Record, factor: float) -> Fields:
    found = record.digest()
    return {
        "score": factor * found.median,
        "low": factor * found.low,
        "high": factor * found.high,
        "n": found.n,
        "commit": record.environment.git_commit + ("+" if record.environment.is_dirty else ""),
        "at": record.environment.started_at,
    }
