"""Which record of one side belongs with which of the other: same benchmark, version, batch, and nothing else.

What cannot be compared is not compared: another version, a changed seal, other threads or sizes are named as the
reason, and two machines are refused unless system-to-system is what was asked for. Across implementations an Optimized
row belongs with the OOTB row of its model, mode and batch. Knows nothing of statistics, and needs no numpy.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from strobe.bench.records import SERVING, Environment, Record, format_variant
from strobe.bench.spec import likeness, without_precision
from strobe.errors import UsageError

RowKey = tuple[str, ...]

#: how tables call a point of a search's curve
TRIAL = "trial"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two measurements of the same thing, `a` the base."""

    a: Record
    b: Record
    #: whether repeat i of A ran right beside repeat i of B
    is_interleaved: bool = False


class LeftOut(NamedTuple):
    """A row that is not compared, and why."""

    name: str
    reason: str


class Added(LeftOut):
    """One of B that A has not, or was not measured so in A: nothing is lost by it."""

    __slots__ = ()


class NotHere(LeftOut):
    """One that A could not measure, nor B: the machine lacks something. Nothing is lost by that either."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Pairs:
    """What can be compared, and for the rest why not."""

    pairs: tuple[Pair, ...]
    left_out: tuple[LeftOut, ...] = ()


def row_key(record: Record) -> RowKey:
    """Return what makes two records rows of the same name; version and machine are not part of it."""
    return (*_task_key(record), *_conditions(record))


def _task_key(record: Record) -> RowKey:
    size = "" if record.batch_size is None else str(record.batch_size)
    place = f"{record.devices}x{record.nodes}"
    return (record.benchmark, record.subject, format_variant(record.variant), record.metric, size, place)


def _conditions(record: Record) -> RowKey:
    """Return under which conditions it was measured, in words: options, device, threads; the last is the machine's."""
    sizes = ",".join(f"{name}={value:g}" for name, value in sorted(record.options.items()))
    threads = record.num_threads
    return (sizes, record.device, f"{threads} thread(s)" if threads else "threads unknown")


def row_name(record: Record) -> str:
    """Return a row's name as tables show it."""
    # Lines of schema 1 measure several trackers and metrics under one name; since then all that is in the key.
    own = [] if record.version else [record.subject, format_variant(record.variant), record.metric]
    size = [] if record.batch_size is None else [f"B={record.batch_size}"]
    return " ".join(filter(None, [record.benchmark, *own, *size, *peculiarities(record)]))


def peculiarities(record: Record) -> list[str]:
    """Return how it was measured where that is not the usual way."""
    found = [SERVING] if record.metric == SERVING else []
    found += [TRIAL] if record.is_trial else []
    found += [record.device] if record.device != "cpu" else []
    usual = max(1, record.environment.cpu_count // max(1, record.devices))
    threads = record.num_threads
    return [*found, f"threads={threads}"] if threads and record.environment.cpu_count and threads != usual else found


#: a machine, and a row on it
Place = tuple[str, RowKey]


def newest(records: Iterable[Record]) -> dict[Place, Record]:
    """Return the last record of each row on each machine: sessions must not be mixed, nor machines.

    A search's trial or a confirmation counts only where no session has measured the row.
    """
    found: dict[Place, Record] = {}
    for record in records:
        known = found.get(key := (machine(record.environment), row_key(record)))
        if known is None or rank(record) >= rank(known):
            found[key] = record
    return found


def rank(record: Record) -> tuple[bool, str]:
    """Return what is greatest for the record of a row that `newest` takes."""
    return not record.is_aside, record.id


def pair(a: Iterable[Record], b: Iterable[Record], *, across_systems: bool = False, here: str = "") -> Pairs:
    """Pair two sides on one machine; raises UsageError for two machines unless `across_systems`.

    Of several that both sides were measured on, `here` is the one that counts.
    """
    of_a, of_b = (newest(one for one in side if not one.is_aside) for side in (a, b))
    pairs: list[Pair] = []
    left_out: list[LeftOut] = []
    met: set[Place] = set()
    # A row that has its counterpart on its own machine is not wanted on another one.
    free = of_a if across_systems else {place: record for place, record in of_a.items() if place not in of_b}
    for place, record in of_b.items():
        found = place if place in of_a else _elsewhere(place, free, across_systems=across_systems)
        if found is None:
            left_out.append(Added(row_name(record), _why_alone(record, of_a, "B")))
            continue
        met.add(found)
        if absent := _absent(of_a[found], record):
            left_out.append(absent)
        elif reason := _obstacle(of_a[found], record):
            left_out.append(LeftOut(row_name(record), reason))
        else:
            pairs.append(Pair(of_a[found], record))
    alone = [record for place, record in of_a.items() if place not in met]
    left_out += [_absent(record) or LeftOut(row_name(record), _why_alone(record, of_b, "A")) for record in alone]
    if not across_systems:
        pairs, others = _of_one_machine(pairs, here)
        left_out += others
    return Pairs(tuple(pairs), tuple(left_out))


def _elsewhere(place: Place, known: dict[Place, Record], *, across_systems: bool) -> Place | None:
    """Return where the same row was measured last on another machine; systems may have to differ in their threads."""
    own = place[1]
    found = [one for one in known if (one[1][:-1] == own[:-1] if across_systems else one[1] == own)]
    return max(found, key=lambda one: (one[1] == own, known[one].id), default=None)


def _why_alone(record: Record, others: dict[Place, Record], side: str) -> str:
    """Return why a row has no counterpart: its task was measured otherwise on the other side, or not at all."""
    for other in others.values():
        if _task_key(other) == _task_key(record):
            own, theirs = (
                ", ".join(x or "no sizes" for x, y in zip(_conditions(one), _conditions(two), strict=True) if x != y)
                for one, two in ((record, other), (other, record))
            )
            if own:
                return f"{own} in {side}, {theirs} in {'A' if side == 'B' else 'B'}"
            return f"measured on {machine_names(record.environment)[0]} only in {side}"
    return f"only in {side}"


def pair_implementations(records: Iterable[Record]) -> Pairs:
    """Pair each Optimized row with the OOTB row that does the same: A is OOTB, B is Optimized."""
    rows = list(newest(one for one in records if not one.is_aside).values())
    plain = [record for record in rows if record.subject == "OOTB"]
    pairs, left_out = [], []
    for record in rows:
        if record.subject != "Optimized":
            continue
        if (base := _counterpart(record, plain)) is None:
            reason = "no OOTB row of the same model, mode, configuration, batch, device and threads"
            left_out.append(_absent(record) or LeftOut(row_name(record), reason))
        elif absent := _absent(base, record):
            left_out.append(absent)
        elif changed := _changed(base, record):
            left_out.append(LeftOut(row_name(record), changed))
        else:
            pairs.append(Pair(base, record, is_interleaved=_is_one_session(base, record)))
    return Pairs(tuple(pairs), tuple(left_out))


def _is_one_session(a: Record, b: Record) -> bool:
    """Whether both come from one session, whose turns go over all rows; a repeat that is missing breaks the turns."""
    began = a.environment.started_at
    return bool(began) and began == b.environment.started_at and len(a.samples) == len(b.samples)


def shared_task(record: Record) -> RowKey:
    """Return what implementations and precisions of a workload have in common when they are measured alike."""
    place = f"{record.devices}x{record.nodes}"
    task = (record.model, record.mode, without_precision(record.config))
    own = (*task, record.metric, str(record.batch_size), place)
    return (*own, *_conditions(record), machine(record.environment))


def _counterpart(record: Record, plain: Sequence[Record]) -> Record | None:
    rivals = [one for one in plain if shared_task(one) == shared_task(record)]
    return max(rivals, key=lambda one: likeness(one.config, record.config), default=None)


def _absent(a: Record, b: Record | None = None) -> LeftOut | None:
    """Return a row that was left out by a side, which is no failure of it; None if both have tried."""
    name = row_name(b or a)
    if a.is_left_out:
        return Added(name, f"in A {a.error}") if b and not b.is_left_out else NotHere(name, a.error or "")
    return LeftOut(name, f"in B {b.error}") if b and b.is_left_out else None


def _obstacle(a: Record, b: Record) -> str | None:
    if a.id and a.id == b.id:
        return "A and B are the same result"
    if a.version != b.version:
        return f"version {a.version} in A, {b.version} in B"
    if changed := _changed(a, b):
        return changed
    if a.seal and b.seal and a.seal != b.seal:
        return f"its code or data changed without a new version (seal {a.seal[:8]} in A, {b.seal[:8]} in B)"
    if a.unit != b.unit or a.better != b.better:
        return f"{a.unit} in A, {b.unit} in B"
    return None


def _changed(a: Record, b: Record) -> str | None:
    if a.is_changed or b.is_changed:
        return f"its sealed code had changed under its version ({'A' if a.is_changed else 'B'})"
    return None


def _of_one_machine(pairs: Sequence[Pair], here: str) -> tuple[list[Pair], list[LeftOut]]:
    """Return the pairs of one machine, and the others as left out; raises UsageError if nobody knows of which."""
    others: list[Pair] = []
    by_machine: dict[str, list[Pair]] = {}
    for one in pairs:
        name = machine(one.b.environment)
        (by_machine.setdefault(name, []) if machine(one.a.environment) == name else others).append(one)
    if others and not by_machine:
        raise _refusal(others[0].a, others[0].b)
    known = distinct_names(
        record.environment for found in by_machine.values() for one in found for record in (one.a, one.b)
    )
    if len(by_machine) > 1 and here not in by_machine:
        names = ", ".join(known.values())
        raise UsageError(f"A and B were both measured on {names}, and none is this machine; choose one with --machine")
    taken = by_machine.get(here) or next(iter(by_machine.values()), [])
    elsewhere = [one for found in by_machine.values() if found is not taken for one in found]
    left_out = [LeftOut(row_name(one.b), "measured on another machine in A; --systems compares them") for one in others]
    whose = [_whose(known[machine(one.b.environment)]) for one in elsewhere]
    return taken, [*left_out, *(LeftOut(row_name(one.b), why) for one, why in zip(elsewhere, whose, strict=True))]


def _whose(name: str) -> str:
    return f"measured on another machine ({name}) in A and in B; --machine {shlex.quote(name)} compares it there"


def machine_names(environment: Environment) -> list[str]:
    """Return what a person may call a machine, best first: its host, its processor, its fingerprint."""
    names = (environment.host, environment.cpu, environment.hardware.get("cpu", ""), machine(environment))
    return [name for name in names if name]


def distinct_names(environments: Iterable[Environment]) -> dict[str, str]:
    """Return for each machine the best of its names that no other one of these has."""
    names: dict[str, dict[str, None]] = {}
    for one in environments:  # a machine may have had several hosts, as those that run CI have
        names.setdefault(machine(one), {}).update(dict.fromkeys(machine_names(one)))
    taken = Counter(name for own in names.values() for name in own)
    return {one: next((name for name in own if taken[name] == 1), one) for one, own in names.items()}


def of_machine(name: str, *sides: Sequence[Record]) -> tuple[list[Record], ...]:
    """Return of each side the records of the machine that is called so, or whose fingerprint begins so.

    Raises UsageError if no side has any.
    """
    called = {machine(one.environment) for side in sides for one in side if _is_called(one.environment, name)}
    if not called:
        names = distinct_names(one.environment for side in sides for one in side)
        known = ", ".join(f"{best} ({one})" if best != one else one for one, best in names.items())
        raise UsageError(f"no result is of a machine called {name!r}; there are: {known or 'none'}")
    return tuple([one for one in side if machine(one.environment) in called] for side in sides)


def _is_called(environment: Environment, name: str) -> bool:
    return bool(name) and (name in machine_names(environment) or environment.fingerprint.startswith(name))


def _refusal(a: Record, b: Record) -> UsageError:
    differing = "; ".join(
        f"{name}: {left} v. {right}" for name, left, right in hardware_diff(a.environment, b.environment)[:4]
    )
    return UsageError(
        f"{row_name(a)}: A and B are two machines ({differing}); "
        "measure both on one, or compare the systems themselves with --systems"
    )


def machine(environment: Environment) -> str:
    """Return what tells two machines apart: the fingerprint, or for old records what they know."""
    return environment.fingerprint or f"{environment.host} {environment.cpu} {environment.cpu_count}"


#: name of a fact, its value in A, its value in B
Difference = tuple[str, str, str]


def hardware_diff(a: Environment, b: Environment) -> list[Difference]:
    """Return the facts about the machine that differ."""
    plain = ("host", "cpu", "cpu_count", "memory_bytes", "accelerator")
    return _diff(a.hardware, b.hardware) or _diff(_facts(a, plain), _facts(b, plain))


def environment_diff(a: Environment, b: Environment) -> list[Difference]:
    """Return everything that differs between two environments, hardware first; the hour and the load do not count."""
    plain = ("os", "python", "file_system", "git_commit", "is_dirty")
    found = [*hardware_diff(a, b), *_diff(a.software, b.software), *_diff(_facts(a, plain), _facts(b, plain))]
    return list(dict.fromkeys(found))


def record_diff(a: Record, b: Record) -> list[Difference]:
    """Return what differs between the environments of a row; what one that failed does not tell may be the same."""
    found = environment_diff(a.environment, b.environment)
    return [(name, left, right) for name, left, right in found if (left or a.samples) and (right or b.samples)]


def _facts(environment: Environment, names: Sequence[str]) -> dict[str, str]:
    return {name: str(getattr(environment, name)) for name in names}


def _diff(a: dict[str, str], b: dict[str, str]) -> list[Difference]:
    names = [*a, *(name for name in b if name not in a)]
    return [(name, a.get(name, ""), b.get(name, "")) for name in names if a.get(name, "") != b.get(name, "")]
