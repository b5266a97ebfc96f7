"""What is to be stored: values packed, signed and sorted by place, and the mistakes of whoever stores them.

All limits that holders have are checked here as well, in the same terms, so that their user hears what is wrong before
anything is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from strobe.errors import UsageError
from strobe.swarm.dht.id import place_of
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.protocol import MAX_ENTRIES, MAX_SUBKEY_BYTES, MAX_VALUE_BYTES, WireEntry
from strobe.swarm.dht.storage import PLAIN, cost_of
from strobe.swarm.dht.validator import RawRecord, RecordValidator
from strobe.swarm.dht.value import pack


@dataclass(slots=True)
class Batch:
    """Entries by place; and what they are called, with where among them each is."""

    records: dict[bytes, list[WireEntry]] = field(default_factory=dict)
    positions: list[tuple[Any, bytes, int]] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        keys: Sequence[Any],
        values: Sequence[Any],
        expiration_time: float | Sequence[float],
        subkeys: Sequence[Any] | None,
        *,
        options: Options,
        now: float,
        validator: RecordValidator | None,
    ) -> Batch:
        """Return values ready to be stored; UsageError for what no peer would hold."""
        expirations = _expirations(expiration_time, len(keys))
        if not len(keys) == len(values) == len(expirations) or (subkeys is not None and len(subkeys) != len(keys)):
            raise UsageError(
                f"{len(keys)} keys, {len(values)} values, {len(expirations)} expirations"
                f"{'' if subkeys is None else f', {len(subkeys)} subkeys'}: there must be as many of each"
            )
        batch = cls()
        sizes: dict[bytes, int] = {}
        names: dict[Any, bytes] = {}
        subkeys = [None] * len(keys) if subkeys is None else subkeys
        for key, subkey, value, expires in zip(keys, subkeys, values, expirations, strict=True):
            if not expires <= now + options.max_lifetime_s:  # also for NaN
                raise UsageError(
                    f"the value of {key!r:.80} would expire at {expires}, which is {expires - now:.0f} s from now; "
                    f"at most {options.max_lifetime_s:.0f} s are allowed: store it again before it expires"
                )
            name = key if subkey is None else (key, subkey)
            place, packed, signed = place_of(key), PLAIN if subkey is None else pack(subkey), pack(value)
            note_name(names, name, place + packed)
            if validator is not None:
                signed = validator.sign_value(RawRecord(place, packed, signed, expires))
            if len(signed) > MAX_VALUE_BYTES or len(packed) > MAX_SUBKEY_BYTES:
                raise UsageError(
                    f"the value of {key!r:.80} has {len(signed)} bytes and its subkey {len(packed)}; at most "
                    f"{MAX_VALUE_BYTES} and {MAX_SUBKEY_BYTES} fit: store where to find it instead"
                )
            sent = batch.records.setdefault(place, [])
            batch.positions.append((name, place, len(sent)))
            sent.append((packed, signed, expires))
            sizes[place] = size = sizes.get(place, 0) + cost_of(signed, packed)
            if size > options.max_record_bytes or len(sent) > MAX_ENTRIES:
                raise UsageError(
                    f"the record of {key!r:.80} has {size} bytes in {len(sent)} values; at most "
                    f"{options.max_record_bytes} and {MAX_ENTRIES} fit: spread it over several keys"
                )
        return batch


def _expirations(given: float | Sequence[float], count: int) -> list[float]:
    """Return an expiration for each of so many keys, if one is given for all; UsageError for what is no time."""
    try:
        if isinstance(given, Iterable):
            return [float(each) for each in given]
        return [float(given)] * count
    except (TypeError, ValueError) as exc:
        raise UsageError(
            f"{given!r:.80} is no expiration: it is a time in seconds since 1970, such as get_dht_time() + 60"
        ) from exc


def note_name(names: dict[Any, bytes], name: Any, meaning: bytes) -> None:
    """Note which bytes a name stands for; UsageError if results could not be found by it."""
    try:
        noted = names.setdefault(name, meaning)
    except TypeError as exc:
        raise UsageError(f"{name!r:.80} cannot be a key or a subkey ({exc}): use a tuple instead") from exc
    if noted != meaning:
        raise UsageError(
            f"{name!r:.80} and another name of this call cannot be told apart by Python, as 1 and True cannot, but are "
            "two in the swarm: use one of them, or a call for each"
        )
