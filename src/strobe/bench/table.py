"""The results table: Model, Implementation, Mode, Config, Batch Size, Score, Units; one table per system.

Workloads, load profiles, swarm benchmarks and tests that record share it. Without a workload the model is the profile,
the swarm's benchmark or a project's file of tests, the implementation who was measured, the mode which figure of it.

Signs (`MEANINGS`) are derived here and never stored. A failed measurement is a row that says so. Every row carries the
command that measures it again. Texts only: values for machines are in `fields`. Pure; a screen is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from strobe.bench import stats
from strobe.bench.compare.pairing import peculiarities
from strobe.bench.records import Record

HEADER = ("Model", "Implementation", "Mode", "Config", "Batch Size", "Score", "Units")
#: a rule of fewer dashes makes no column of a Markdown table
_MIN_WIDTH = 3
MEANINGS = {
    "*": "missed its latency limit",
    "?": "too few steps to tell whether the latency limit is kept; --seconds gives more",
    "!": "the output is wrong, so the score means nothing",
    "#": "its code is not what its version was sealed with: comparable with nothing",
    "~": "noisy: something else kept the machine busy, see --verbose",
}


def is_row(record: Record) -> bool:
    """Whether a record says what its columns are; load profiles and tests of an older Strobe do not."""
    return record.version > 0


class Scale(NamedTuple):
    """What a value is multiplied by, and the unit that it has then."""

    factor: float
    unit: str


_SCALES = {
    "s": (Scale(1.0, "s"), Scale(1e3, "ms"), Scale(1e6, "µs"), Scale(1e9, "ns")),
    "B": (Scale(1e-9, "GB"), Scale(1e-6, "MB"), Scale(1e-3, "kB"), Scale(1.0, "B")),
}


def scale_of(value: float, unit: str) -> Scale:
    """Return the multiple of a unit in which a person would say a value."""
    known = _SCALES.get(unit, (Scale(1.0, unit),))
    wanted = (one for one in known if (abs(value) * one.factor >= 1 if value else one.factor == 1))
    return next(wanted, known[-1])


def format_value(value: float, unit: str) -> str:
    """Return a value in the multiple of its unit that a person would say."""
    factor, name = scale_of(value, unit)
    if name != unit or unit == "s":
        return f"{value * factor:.3g} {name}"
    return f"{value:,.4g} {unit}" if value < 10_000 else f"{value:,.0f} {unit}"


def format_samples(record: Record) -> str:
    """Return median ± spread (n), or why there is none."""
    if record.error:
        return f"failed: {record.error}"
    found = record.digest()
    spread = f" ± {format_value(found.spread, record.unit)}" if found.spread else ""
    return f"{format_value(found.median, record.unit)}{spread} (n={found.n})"


def scale(record: Record) -> Scale:
    """Return in which unit the score of a record is shown."""
    return scale_of(stats.median(record.samples), record.unit) if record.samples else Scale(1.0, record.unit)


def signs(record: Record) -> str:
    """Return the signs behind a score."""
    found = ""
    if record.latency is not None:
        found += {"met": "", "missed": "*", "undecided": "?"}[record.latency.status]
    if record.correctness is not None and not record.correctness.is_correct:
        found += "!"
    return found + ("#" if record.is_changed else "")


def score_text(record: Record, shown: Scale | None = None) -> str:
    """Return the median score with its signs, in the unit of its own scale or of another; or that there is none."""
    if record.error is not None or not record.samples:
        return "left out" if record.is_left_out else "failed"
    return number_text((shown or scale(record)).factor * stats.median(record.samples)) + signs(record)


def number_text(value: float) -> str:
    """Return a score with at least four digits, and no more behind the point than mean something."""
    if value >= 10_000:
        return f"{value:,.0f}"
    if value >= 1_000:
        return f"{value:,.1f}"
    return f"{value:.2f}" if value >= 10 else f"{value:.4g}"


def spread_text(record: Record) -> str:
    """Return the spread of the repeats in percent of their median, and how many there are."""
    if not record.samples:
        return ""
    found = record.digest()
    share = "" if found.spread_percent is None else f"±{found.spread_percent:.1f} % "
    return f"{share}n={found.n}" + ("~" if is_noisy(record) else "")


def count_text(number: int, noun: str) -> str:
    """Return a number of things: 1 row, 2 rows."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def is_noisy(record: Record) -> bool:
    """Whether any repeat deserves doubt."""
    return any(repeat.noisy for repeat in record.repeats)


def cells(record: Record) -> tuple[str, ...]:
    """Return the texts of the seven columns; what is unusual about the way it was measured stands with the config."""
    size = "" if record.batch_size is None else str(record.batch_size)
    config = " ".join(filter(None, [record.config, *peculiarities(record)]))
    return (record.model, record.subject, record.mode, config, size, score_text(record), scale(record).unit)


def by_system(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the rows per hardware fingerprint: results of two systems never share a table."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if is_row(record):
            found.setdefault(record.environment.fingerprint, []).append(record)
    return found


def system_title(record: Record) -> str:
    """Return what the system of a record is called above its table."""
    environment = record.environment
    parts = [environment.cpu, f"{environment.cpu_count} CPUs", f"{environment.memory_bytes / 2**30:.0f} GiB"]
    if accelerators := environment.accelerator or environment.hardware.get("accelerators"):
        parts.append(accelerators)
    if torch := environment.software.get("torch"):
        parts.append(f"torch {torch}")
    return ", ".join(parts)


def legend(records: Sequence[Record]) -> dict[str, str]:
    """Return the signs that these rows have, and what each means."""
    seen = "".join(signs(record) for record in records if record.samples)
    seen += "~" if any(is_noisy(record) for record in records) else ""
    return {sign: meaning for sign, meaning in MEANINGS.items() if sign in seen}


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return an aligned Markdown table."""
    # A line break would end the row: an error has several lines.
    table = [list(header), *[[" ".join(cell.splitlines()).replace("|", "\\|") for cell in line] for line in lines]]
    widths = [max(_MIN_WIDTH, *map(len, column)) for column in zip(*table, strict=True)]
    rows = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in table]
    rule = " | ".join("-" * width for width in widths)
    return "\n".join(f"| {row} |" for row in [rows[0], rule, *rows[1:]])


def markdown_tables(records: Iterable[Record]) -> str:
    """Return one Markdown table per system, each row with the command that measures it again."""
    parts = []
    for rows in by_system(records).values():
        lines = [(*cells(row), spread_text(row), f"`{row.command}`") for row in rows]
        table = markdown((*HEADER, "Spread", "Reproduce"), lines)
        failures = [f"`{row.benchmark}` {score_text(row)}: {row.error.splitlines()[0]}" for row in rows if row.error]
        # In backticks: a bare `*` begins a list and `#` a heading.
        meanings = [f"`{sign}` = {meaning}" for sign, meaning in legend(rows).items()]
        notes = [f"- {text}" for text in (*meanings, *failures)]
        parts.append("\n\n".join(filter(None, [f"**{system_title(rows[-1])}**", table, "\n".join(notes)])))
    return "\n\n".join(parts)
