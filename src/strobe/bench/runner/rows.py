"""From outcomes to a record: scores, latency, the check, energy. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from strobe.bench import latency
from strobe.bench.records import SERVING, THROUGHPUT, Environment, Latency, LatencyStatus, Record, Repeat, make_id
from strobe.bench.runner.message import Outcome, Served
from strobe.bench.runner.options import Cell, Options, reproduce
from strobe.bench.spec import Units
from strobe.bench.workload import Work

_NO_TIME = "no rate of queries was found within the latency limit before time was up; more of it: --timeout"
_NO_RATE = "no rate of queries keeps the latency limit"
_UNDECIDED = (
    "whether a rate of queries keeps the latency limit is undecided: at the lowest one tried, too many were late for a "
    "yes and too few for a no; measure again on a quieter machine"
)
_WORST_FIRST: tuple[LatencyStatus, ...] = ("missed", "undecided", "met")


def score(work: Work, step_s: float, units: Units) -> float:
    """Return the work per second of steps that take so long."""
    amount = {"ex/s": work.examples, "TF/s": work.flops / 1e12, "GB/s": work.bytes / 1e9}[units]
    return amount / step_s


def blank_record(cell: Cell, options: Options, environment: Environment, seal: str) -> Record:
    """Return the record of a cell before anything is known about it."""
    benchmark = cell.benchmark
    is_serving = options.scenario == "serving"
    return Record(
        id=make_id(),
        benchmark=benchmark.key,
        subject=benchmark.implementation,
        variant={"arrivals": "poisson"} if is_serving else {},
        metric=SERVING if is_serving else THROUGHPUT,
        # A query is an example.
        unit="ex/s" if is_serving else benchmark.units,
        better="more",
        environment=environment,
        command=reproduce(cell, options),
        model=benchmark.model,
        mode=benchmark.mode,
        config=benchmark.config,
        precision=benchmark.precision,
        version=benchmark.version,
        seal=seal,
        owner=benchmark.owner,
        batch_size=cell.batch_size,
        changes=benchmark.changes,
        devices=benchmark.devices,
        nodes=benchmark.nodes,
        device=options.device,
        threads=options.threads_each(benchmark),
    )


def fill_record(record: Record, cell: Cell, outcomes: Sequence[Outcome], error: str | None = None) -> Record:
    """Return the record with what the repeats found; `error` takes the samples away, not the repeats."""
    repeats = tuple(outcome.repeat for outcome in outcomes)
    if error is not None:
        return msgspec.structs.replace(record, repeats=repeats, error=error)
    work = outcomes[0].work
    # Nodes that are all alike are one system, whichever of them is the first.
    others = {"other_nodes": ", ".join(names)} if (names := outcomes[0].machines[1:]) else {}
    environment = msgspec.structs.replace(
        record.environment,
        hardware={**record.environment.hardware, **others},
        software={**record.environment.software, **outcomes[0].software},
    )
    known = msgspec.structs.replace(
        record,
        repeats=repeats,
        work=work,
        correctness=next((outcome.correctness for outcome in outcomes if outcome.correctness), None),
        environment=environment,
    )
    if record.metric == SERVING:
        return _fill_serving(known, outcomes)
    return msgspec.structs.replace(
        known,
        samples=tuple(score(work, repeat.step_s, cell.benchmark.units) for repeat in repeats),
        latency=_latency(cell, repeats),
        energy_j_per_example=_energy(work, repeats),
    )


def _fill_serving(record: Record, outcomes: Sequence[Outcome]) -> Record:
    served = [outcome.served for outcome in outcomes if outcome.served is not None]
    # A repeat that ran out of time says nothing against the rates that others found.
    counted = [one for one in served if one.qps is not None or not one.is_cut] or served
    worst = min(counted, key=lambda one: (_WORST_FIRST.index(_status(one)), one.qps or 0.0))
    rates = tuple(one.qps for one in counted if one.qps is not None)
    if len(rates) < len(counted):
        error = _NO_TIME if worst.is_cut else _NO_RATE if _status(worst) == "missed" else _UNDECIDED
        return msgspec.structs.replace(record, latency=worst.latency, error=error)
    return msgspec.structs.replace(record, samples=rates, latency=worst.latency)


def _status(served: Served) -> LatencyStatus:
    return served.latency.status if served.latency is not None else "undecided"


def _latency(cell: Cell, repeats: Sequence[Repeat]) -> Latency | None:
    limit = cell.benchmark.latency
    return None if limit is None else latency.judge_repeats(repeats, limit)


def _energy(work: Work, repeats: Sequence[Repeat]) -> float | None:
    metered = [repeat for repeat in repeats if repeat.energy_j is not None]
    if not metered or not work.examples:
        return None
    steps = sum(len(repeat.wall_s) * repeat.inner_loops for repeat in metered)
    return sum(repeat.energy_j or 0.0 for repeat in metered) / (steps * work.examples)
