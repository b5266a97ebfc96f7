"""Which record of one side belongs with which of the other: same benchmark, version, batch, and nothing else.

What cannot be compared is not compared: another version or a changed seal is named as the reason, and two machines are
refused unless system-to-system is what was asked for. Across implementations an Optimized row belongs with the OOTB
row of its model, mode and batch. Knows nothing of statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from strobe.bench.records import Environment, Record, format_variant
from strobe.bench.spec import without_precision
from strobe.errors import UsageError

RowKey = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two measurements of the same thing, `a` the base."""

    a: Record
    b: Record
    #: whether repeat i of A ran right beside repeat i of B
    is_interleaved: bool = False


@dataclass(frozen=True, slots=True)
class Pairs:
    """What can be compared, and for the rest why not."""

    pairs: tuple[Pair, ...]
    #: name of a row → the reason
    left_out: dict[str, str] = field(default_factory=dict)


def row_key(record: Record) -> RowKey:
    """Return what makes two records rows of the same name; the version is not part of it."""
    size = "" if record.batch_size is None else str(record.batch_size)
    place = f"{record.devices}x{record.nodes}"
    return (record.benchmark, record.subject, format_variant(record.variant), record.metric, size, place)


def row_name(record: Record) -> str:
    """Return a row's name as tables show it."""
    # Lines of schema 1 measure several trackers and metrics under one name; since then all that is in the key.
    own = [] if record.version else [record.subject, format_variant(record.variant), record.metric]
    size = [] if record.batch_size is None else [f"B={record.batch_size}"]
    return " ".join(filter(None, [record.benchmark, *own, *size]))


def newest(records: Iterable[Record]) -> dict[RowKey, Record]:
    """Return the last record of each row: a side is one session per row, for sessions must not be mixed."""
    found: dict[RowKey, Record] = {}
    for record in records:
        known = found.get(key := row_key(record))
        if known is None or record.id >= known.id:
            found[key] = record
    return found


def pair(a: Iterable[Record], b: Iterable[Record], *, across_systems: bool = False) -> Pairs:
    """Pair two sides; raises UsageError for two machines unless `across_systems`."""
    of_a, of_b = newest(a), newest(b)
    pairs, left_out = [], {}
    for key, record in of_b.items():
        if (base := of_a.get(key)) is None:
            left_out[row_name(record)] = "only in B"
        elif reason := _obstacle(base, record):
            left_out[row_name(record)] = reason
        else:
            pairs.append(Pair(base, record))
    left_out.update({row_name(record): "only in A" for key, record in of_a.items() if key not in of_b})
    if not across_systems:
        _refuse_two_machines(pairs)
    return Pairs(tuple(pairs), left_out)


def pair_implementations(records: Iterable[Record]) -> Pairs:
    """Pair each Optimized row with the OOTB row that does the same: A is OOTB, B is Optimized."""
    rows = list(newest(records).values())
    plain = [record for record in rows if record.subject == "OOTB"]
    pairs, left_out = [], {}
    for record in rows:
        if record.subject != "Optimized":
            continue
        if (base := _counterpart(record, plain)) is None:
            left_out[row_name(record)] = "no OOTB row of the same model, mode, configuration and batch"
        else:
            pairs.append(Pair(base, record, is_interleaved=_is_one_session(base, record)))
    _refuse_two_machines(pairs)
    return Pairs(tuple(pairs), left_out)


def _is_one_session(a: Record, b: Record) -> bool:
    """Whether both come from one session, whose turns go over all rows; a repeat that is missing breaks the turns."""
    began = a.environment.started_at
    return bool(began) and began == b.environment.started_at and len(a.samples) == len(b.samples)


def _counterpart(record: Record, plain: Sequence[Record]) -> Record | None:
    def task(one: Record) -> RowKey:
        model, _, mode, config = one.benchmark.split("/", 3)
        return (model, mode, without_precision(config), str(one.batch_size), f"{one.devices}x{one.nodes}")

    rivals = [one for one in plain if task(one) == task(record)]

    def likeness(one: Record) -> tuple[int, bool]:
        # The same precision if there is one, else fp32: the way it is written before anybody makes it fast.
        words, wanted = (key.rsplit("/", 1)[-1].split("-") for key in (one.benchmark, record.benchmark))
        alike = takewhile(lambda both: both[0] == both[1], zip(words, wanted, strict=False))
        return len(list(alike)), words[-1] == "fp32"

    return max(rivals, key=likeness, default=None)


def _obstacle(a: Record, b: Record) -> str | None:
    if a.version != b.version:
        return f"version {a.version} in A, {b.version} in B"
    if a.seal and b.seal and a.seal != b.seal:
        return f"its code or data changed without a new version (seal {a.seal[:8]} in A, {b.seal[:8]} in B)"
    if a.unit != b.unit or a.better != b.better:
        return f"{a.unit} in A, {b.unit} in B"
    return None


def _refuse_two_machines(pairs: Sequence[Pair]) -> None:
    for one in pairs:
        a, b = one.a.environment, one.b.environment
        if machine(a) != machine(b):
            differing = "; ".join(f"{name}: {left} v. {right}" for name, left, right in hardware_diff(a, b)[:4])
            raise UsageError(
                f"{row_name(one.a)}: A and B are two machines ({differing}); "
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


def _facts(environment: Environment, names: Sequence[str]) -> dict[str, str]:
    return {name: str(getattr(environment, name)) for name in names}


def _diff(a: dict[str, str], b: dict[str, str]) -> list[Difference]:
    names = [*a, *(name for name in b if name not in a)]
    return [(name, a.get(name, ""), b.get(name, "")) for name in names if a.get(name, "") != b.get(name, "")]
