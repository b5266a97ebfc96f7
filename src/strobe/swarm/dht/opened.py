"""Records as their users see them: Python values with expirations."""

from __future__ import annotations

from typing import Any, NamedTuple

from strobe.swarm.dht.storage import PLAIN, Entry, Record
from strobe.swarm.dht.validator import RawRecord, RecordValidator
from strobe.swarm.dht.value import Undecodable, unpack


class ValueWithExpiration(NamedTuple):
    """A value, or a dictionary of subkeys each with their own, and when it expires (of a dictionary: its latest)."""

    value: Any
    expiration_time: float


def open_record(
    key: bytes, record: Record, validator: RecordValidator | None, now: float
) -> ValueWithExpiration | None:
    """Return a packed record's value, without what has expired since it was found; None if nothing can be opened."""
    if isinstance(record, Entry):
        return _open(key, PLAIN, record, validator) if record.expires >= now else None
    values: dict[Any, ValueWithExpiration] = {}
    for packed, entry in record.entries.items():
        if entry.expires < now:
            continue
        try:
            subkey = unpack(packed)
            hash(subkey)
        except (Undecodable, TypeError):
            continue  # a stranger's subkey is no reason to lose the others
        if (value := _open(key, packed, entry, validator)) is None:
            continue
        if (equal := values.get(subkey)) is not None:  # 1 and True are two subkeys, and one to Python: the later counts
            if equal.expiration_time >= value.expiration_time:
                continue
            del values[subkey]
        values[subkey] = value
    if not values:
        return None
    return ValueWithExpiration(values, max(value.expiration_time for value in values.values()))


def _open(key: bytes, subkey: bytes, entry: Entry, validator: RecordValidator | None) -> ValueWithExpiration | None:
    value = entry.value
    if validator is not None:
        value = validator.strip_value(RawRecord(key, subkey, value, entry.expires))
    try:
        return ValueWithExpiration(unpack(value), entry.expires)
    except Undecodable:
        return None
