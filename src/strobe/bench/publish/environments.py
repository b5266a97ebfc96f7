"""Environments of the systems on the page: what each is, what changed on it, in what two of them differ.

A record tells the software that its own row has used: tests know nothing of torch. So results of a row are held against
each other, and a system has what all its rows have together. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from strobe.bench.compare.pairing import Difference, RowKey, hardware_diff, newest, rank, record_diff, row_key
from strobe.bench.records import Record

#: so many changes are shown, the newest ones
_MAX_CHANGES = 20

Facts = list[dict[str, str]]


def describe(records: Iterable[Record]) -> Record:
    """Return the last record of a system, with the software of all its rows."""
    ordered = sorted(newest(records).values(), key=rank)
    software = {name: value for record in ordered for name, value in record.environment.software.items()}
    environment = msgspec.structs.replace(ordered[-1].environment, software=software)
    return msgspec.structs.replace(ordered[-1], environment=environment)


def between(of_a: Iterable[Record], of_b: Iterable[Record]) -> Facts:
    """Return in what two systems differ that have no row in common: what only one of them tells is no difference."""
    a, b = describe(of_a).environment, describe(of_b).environment
    shared = [(name, value, b.software.get(name, value)) for name, value in a.software.items()]
    return _facts([*hardware_diff(a, b), *((name, left, right) for name, left, right in shared if left != right)])


def changes(records: Iterable[Record]) -> list[dict[str, str | Facts]]:
    """Return what changed on a system from one session that measured a row to the next, the newest first."""
    measured = [one for one in records if one.samples and not one.is_aside]
    last: dict[RowKey, Record] = {}
    # When a change was told: other rows may notice it in later sessions.
    told: dict[Difference, str] = {}
    found: dict[tuple[str, str], list[Difference]] = defaultdict(list)
    for record in sorted(measured, key=lambda one: (one.environment.started_at, one.id)):
        before = last.get(key := row_key(record), record)
        last[key] = record
        start, end = before.environment.started_at, record.environment.started_at
        if start == end:
            continue
        for one in record_diff(before, record):
            # That the code has changed is what the histories are about.
            if one[0] not in ("git_commit", "is_dirty") and told.get(one, "") <= start:
                told[one] = end
                found[end, start].append(one)
    newest_first = sorted(found.items(), reverse=True)[:_MAX_CHANGES]
    return [{"from": start, "to": end, "rows": _facts(rows)} for (end, start), rows in newest_first]


def _facts(differing: Iterable[Difference]) -> Facts:
    return [{"name": name, "a": a, "b": b} for name, a, b in differing]
