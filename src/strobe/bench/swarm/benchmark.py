"""Measures subjects one after the other, as often as wanted, and turns what came of it into records and a table.

Repetitions are interleaved (A B A B), each in fresh processes. What a benchmark's phases mean is its own affair: it
says which metrics there are and how each follows from an outcome.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from strobe.bench import machine, stats
from strobe.bench.records import Better, Record, format_number, make_id
from strobe.bench.swarm.program import Listener, Outcome, Program
from strobe.bench.swarm.subject import STROBE, Subject
from strobe.bench.table import format_samples, markdown
from strobe.errors import UsageError

#: of what is measured: records of two versions are not compared
_VERSION = 1
#: what the command takes where nothing is said
_REPEAT, _TIMEOUT_S = 1, 3600.0


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of an outcome; None where the subject does not tell."""

    name: str
    unit: str
    better: Better
    title: str
    of: Callable[[Outcome], float | None]


@dataclass(frozen=True, slots=True)
class Case:
    """One job of a benchmark."""

    title: str
    #: a struct whose fields are named as the flags of the command
    job: msgspec.Struct
    #: names what is compared among records of one benchmark, such as {"peers": "64"}
    variant: Mapping[str, str]
    #: makes one who hears what goes on, for each run
    listen: Callable[[], Listener]


def run(
    benchmark: str,
    case: Case,
    metrics: Sequence[Metric],
    subjects: Sequence[Subject],
    *,
    repeat: int = _REPEAT,
    timeout_s: float = _TIMEOUT_S,
    say: Callable[[str], None] = lambda text: None,
) -> list[Record]:
    """Measure; one record per subject and metric. A subject that fails once is not tried again."""
    if repeat < 1:
        raise UsageError(f"--repeat must be at least 1, got {repeat}")
    outcomes: list[list[Outcome]] = [[] for _ in subjects]
    for repetition in range(repeat):
        for subject, done in zip(subjects, outcomes, strict=True):
            if done and done[-1].error:
                continue
            say(f"\n{subject.name}, {case.title}" + (f", {repetition + 1}/{repeat}" if repeat > 1 else ""))
            program = Program(subject.command(benchmark), msgspec.structs.asdict(case.job), timeout_s=timeout_s)
            done.append(program.run(case.listen()))
            if done[-1].error:
                say(f"{subject.name} failed: {done[-1].error}")
    environment = machine.describe(source=Path(__file__))
    fields = msgspec.structs.asdict(case.job)
    sizes = {name: float(value) for name, value in fields.items() if isinstance(value, (int, float))}
    model, config = f"swarm-{benchmark}", _config(case.variant)
    return [
        Record(
            id=make_id(),
            benchmark=f"{model}/{subject.name}/{metric.name}/{config}",
            model=model,
            mode=metric.name,
            config=config,
            version=_VERSION,
            subject=subject.name,
            subject_version=done[0].version,
            metric=metric.name,
            unit=metric.unit,
            better=metric.better,
            samples=tuple(samples),
            error=done[-1].error,
            options=sizes,
            environment=environment,
            command=command_of(
                benchmark,
                case.job,
                "" if subject is STROBE else subject.name,
                repeat=repeat,
                timeout_s=timeout_s,
            ),
        )
        for subject, done in zip(subjects, outcomes, strict=True)
        for metric in metrics
        if (samples := _samples(metric, done)) or done[-1].error
    ]


def _config(variant: Mapping[str, str]) -> str:
    """Return what sets a case apart as one word: `peers1024-experts16384-encrypted`."""
    return "-".join(f"{name}{value}" if value[:1].isdigit() else value for name, value in variant.items())


def command_of(
    benchmark: str, job: msgspec.Struct, peer: str = "", *, repeat: int = _REPEAT, timeout_s: float = _TIMEOUT_S
) -> str:
    """Return the command that measures a job again: its fields are flags, and defaults need not be said."""
    parts = ["strobe", "bench", "swarm", benchmark]
    for field in msgspec.structs.fields(job):
        value = getattr(job, field.name)
        if value == field.default:
            continue
        if isinstance(value, bool):
            parts.append(f"--{field.name}" if value else f"--no-{field.name}")
        else:
            parts += [f"--{field.name}", format_number(value) if isinstance(value, float) else str(value)]
    parts += ["--peer", peer] if peer else []
    parts += ["--repeat", str(repeat)] if repeat != _REPEAT else []
    parts += ["--timeout", format_number(timeout_s)] if timeout_s != _TIMEOUT_S else []
    return shlex.join(parts)


def table(records: Sequence[Record], metrics: Sequence[Metric]) -> str:
    """Return a Markdown table: a line per metric, a column per subject, and how we compare with each of the others."""
    subjects = list(dict.fromkeys(record.subject for record in records))
    ours, others = subjects[0], subjects[1:]
    found = {(record.subject, record.metric): record for record in records}
    lines = []
    for metric in metrics:
        mine = found.get((ours, metric.name))
        if mine is None:
            continue
        columns = [found.get((subject, metric.name)) for subject in subjects]
        cells = [format_samples(record) if record is not None else "" for record in columns]
        compared = [compare(mine, found.get((other, metric.name))) for other in others]
        lines.append([metric.title, *cells, *compared])
    return markdown(["", *subjects, *(f"{ours} : {other}" for other in others)], lines)


def compare(ours: Record, theirs: Record | None) -> str:
    """Say how many times better we are, whichever direction is better."""
    if theirs is None or not ours.samples or not theirs.samples:
        return ""
    better, worse = (theirs, ours) if ours.better == "less" else (ours, theirs)
    try:
        found = stats.ratio(better.samples, worse.samples)
    except ValueError:  # nothing was counted: the kernel counts CPU in hundredths of a second
        return "cannot tell"
    return f"{stats.format_factor(found.value)} ×"


def _samples(metric: Metric, outcomes: Sequence[Outcome]) -> list[float]:
    if outcomes[-1].error:
        return []
    values = [metric.of(outcome) for outcome in outcomes]
    return [value for value in values if value is not None]
