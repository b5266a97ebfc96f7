"""A comparison as text: cells of a table, a comment for a pull request, JSON. Pure; a screen is not known here."""

from __future__ import annotations

from typing import Any

from strobe.bench import table
from strobe.bench.compare.comparison import Comparison, Geomean, broke, is_late, noise_notes
from strobe.bench.compare.noise import GROUNDS
from strobe.bench.compare.verdict import Row, Rule

HEADER = ("BENCHMARK", "A", "B", "UNIT", "SPEED-UP", "BOUNDS", "P", "N", "VERDICT")
RIGHT = ("A", "B", "SPEED-UP", "P", "N")
#: what a narrow terminal may leave out, the first first
SPARE = ("N", "P", "UNIT")
#: a comment longer than this is not read
MAX_LINES = 20
#: an upper bound beyond this is no figure
_WILD = 1000.0
#: a factor below this has its first digits behind those that others are cut at
_TINY = 0.01
_UNBOUNDED = "no bounds: a row has a single repeat"
#: what a reviewer wants to see first
_ORDER = ("incorrect", "failed", "slower", "faster", "inconclusive", "same")
_BROKEN = "❗"
_SIGNS = {"faster": "🟢", "slower": "🔴", "incorrect": _BROKEN, "failed": _BROKEN}


def cells(row: Row) -> tuple[str, ...]:
    """Return the texts of a row, in the order of HEADER."""
    measured = row.estimate
    counts = " / ".join(str(len(side.samples)) for side in (row.a, row.b))
    shown = ("", "", "") if measured is None else (factor(measured.value), bounds(row), p_text(row.p))
    return (row.name, *scores(row), scale(row).unit, *shown, counts, row.verdict)


def scale(row: Row) -> table.Scale:
    """Return the unit in which both sides are shown."""
    return table.scale(row.b if row.b.samples else row.a)


def scores(row: Row) -> tuple[str, str]:
    """Return the medians of the repeats of both sides, with the signs of the results table."""
    shown = scale(row)
    return table.score_text(row.a, shown), table.score_text(row.b, shown)


def factor(value: float) -> str:
    """Return a speed-up: 1.05×."""
    if value < _TINY:
        return f"{value:.2g}×"
    return f"{value:.3f}×" if 0.9 < value < 1.1 else f"{value:.2f}×"


def bounds(row: Row) -> str:
    """Return the bounds of the speed-up, or that there are none."""
    return "" if row.estimate is None else span(row.estimate.low, row.estimate.high)


def span(low: float | None, high: float | None) -> str:
    """Return two bounds; a single repeat has none, and of two wild ones the upper means nothing."""
    if low is None or high is None:
        return "no bounds (n=1)"
    return f"{_bound(low)} to {_bound(high)}" if high < _WILD else f"{_bound(low)} or more"


def _bound(value: float) -> str:
    return f"{value:.2g}" if value < _TINY else f"{value:.3f}"


def p_text(p: float | None) -> str:
    """Return a p-value with what matters of it."""
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def summary(found: Comparison) -> list[str]:
    """Return what all rows say together."""
    lines = []
    if (mean := found.geomean) is not None:
        reach = _mean_bounds(mean, found.rule)
        rows = table.count_text(mean.num_rows, "row")
        lines.append(f"geometric mean of B over A: {factor(mean.value)} ({reach}, {rows})")
    counts = [f"{found.counts[verdict]} {verdict}" for verdict in _ORDER if verdict in found.counts]
    lines.append(", ".join(counts) or "nothing to compare")
    if num_late := sum(is_late(row) for row in found.rows):
        lines.append(f"{num_late} row{' misses its' if num_late == 1 else 's miss their'} latency limit")
    return lines


def _mean_bounds(mean: Geomean, rule: Rule) -> str:
    return _UNBOUNDED if mean.low is None else f"{100 * (1 - rule.alpha):.0f} % bounds {span(mean.low, mean.high)}"


def margins(found: Comparison) -> list[str]:
    """Return what was taken for noise, and on what grounds."""
    lines = []
    for source, reason in GROUNDS.items():
        values = [row.floor.value for row in found.rows if row.estimate is not None and row.floor.source == source]
        if values:
            ends = dict.fromkeys(f"{100 * value:.1f}" for value in (min(values), max(values)))
            size = f"{' to '.join(ends)} %, " if max(values) else ""
            lines.append(f"noise floor of {table.count_text(len(values), 'row')}: {size}{reason}")
    return lines


def markdown(found: Comparison, *, link: str | None = None, are_systems: bool = False) -> str:
    """Return a comment for a pull request: at most 20 lines, only rows that say something, and where the rest is.

    Of two systems neither is to blame for being slower.
    """
    outcome = "two systems" if are_systems else _outcome(found)
    worth = [row for row in found.rows if _says_something(row)]
    worth.sort(key=lambda row: (not broke(row), _ORDER.index(row.verdict), _distance(row)))
    lines = [
        f"### Benchmarks: {outcome}",
        "",
        *(f"{line}  " for line in summary(found)),
    ]
    facts = []
    sorts = (("Not compared", found.missing), ("New in B", found.added), ("Left out by both sides", found.not_here))
    for sort, left_out in sorts:
        if left_out:
            rows = table.count_text(len(left_out), "row")
            facts.append(_line(f"{sort}: {rows}, such as `{left_out[0].name}` ({left_out[0].reason})"))
    if found.environment:
        named = "; ".join(f"{name}: {a or '–'} → {b or '–'}" for name, a, b in found.environment[:4])
        facts.append(_line(f"Environment: {named}" + (" …" if len(found.environment) > 4 else "")))
    # Two blanks end a line within a paragraph: the lines are for the rows.
    tail = ["", *(f"{fact}  " for fact in facts)] if facts else []
    if link:
        tail += ["", f"[All results]({link})"]
    # A blank line, header and rule; for what does not fit a blank line and another: right below it were one more row.
    room = MAX_LINES - len(lines) - len(tail) - 3
    shown = worth if len(worth) <= room else worth[: room - 2]
    if shown:
        texts = [_markdown_cells(row) for row in shown]
        lines += ["", *table.markdown(("", "Benchmark", "A", "B", "Speed-up", "Remarks"), texts).splitlines()]
    if len(worth) > len(shown):
        lines += ["", f"… and {len(worth) - len(shown)} more; `strobe bench compare` shows them."]
    return "\n".join([*lines, *tail])


def _outcome(found: Comparison) -> str:
    """Return the heading's word: that nothing is worse is known only where all rows of A were decided."""
    if found.is_worse:
        return "worse"
    if not found.is_open:
        return "not worse"
    counts = ((len(found.open_rows), "open"), (len(found.missing), "not compared"))
    named = [f"{table.count_text(number, 'row')} {word}" for number, word in counts if number]
    return f"inconclusive ({', '.join(named)})"


def _line(text: str) -> str:
    """Return a text as one line: facts of a machine may hold anything."""
    return " ".join(text.split())


def _says_something(row: Row) -> bool:
    """Whether a row belongs in a comment: that a side was noisy, and nothing else, is for the whole table."""
    return row.verdict in _SIGNS or not set(row.notes) <= set(noise_notes(row.a, row.b))


def _markdown_cells(row: Row) -> tuple[str, ...]:
    speed = "" if row.estimate is None else f"{factor(row.estimate.value)} ({bounds(row)})"
    return (
        _BROKEN if broke(row) else _SIGNS.get(row.verdict, ""),
        f"`{row.name}`",
        *(f"{text} {scale(row).unit}" for text in scores(row)),
        speed,
        "; ".join(filter(None, (row.verdict, row.reason, *row.notes))),
    )


def _distance(row: Row) -> float:
    """Return how near a row is to no change: the greatest change comes first."""
    if row.estimate is None:
        return 0.0
    return -abs(row.estimate.value - 1.0)


def as_fields(found: Comparison) -> dict[str, Any]:
    """Return the comparison for programs."""
    mean = found.geomean
    return {
        "rows": [_row_fields(row) for row in found.rows],
        "left_out": [one._asdict() for one in found.left_out],
        "geomean": None
        if mean is None
        else {
            "value": mean.value,
            "low": mean.low,
            "high": mean.high,
            "bounds_text": _mean_bounds(mean, found.rule),
            "rows": mean.num_rows,
        },
        "environment": [{"name": name, "a": a, "b": b} for name, a, b in found.environment],
        "counts": found.counts,
        "is_worse": found.is_worse,
        "is_open": found.is_open,
        "alpha": found.rule.alpha,
        "threshold": found.rule.threshold,
    }


def _row_fields(row: Row) -> dict[str, Any]:
    measured = row.estimate
    return {
        "name": row.name,
        "benchmark": row.b.benchmark,
        "batch_size": row.b.batch_size,
        "unit": row.b.unit,
        "verdict": row.verdict,
        "speedup": measured.value if measured else None,
        "low": measured.low if measured else None,
        "high": measured.high if measured else None,
        "bounds_text": bounds(row),
        "p": row.p,
        "noise_floor": row.floor.value,
        "noise_source": row.floor.source,
        "noise_grounds": GROUNDS[row.floor.source],
        "noise_sessions": row.floor.num_sessions,
        "a": {"id": row.a.id, "samples": row.a.samples, "command": row.a.command},
        "b": {"id": row.b.id, "samples": row.b.samples, "command": row.b.command},
        "notes": row.notes,
        "reason": row.reason,
        "device": row.b.device,
        "threads": row.b.num_threads,
    }
