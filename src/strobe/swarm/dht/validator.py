"""Rules that records must keep: whoever stores applies them, whoever holds or reads a record checks them.

A validator sees records as they travel: packed, the key only as its place. Several are combined into one, which signs
in the order of increasing priority and checks in the order of decreasing priority, so that what was put on last is
taken off first. Two of a kind may merge into one instead.

Checking a signature takes a tenth of a millisecond: many records are checked some at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Final, NamedTuple, Protocol, runtime_checkable

#: records that are checked in one go: some milliseconds if all of them are signed
SLICE: Final = 64


class RawRecord(NamedTuple):
    """An entry on its way: the key's place, the packed subkey (empty: a plain value), the packed value, expiration."""

    key: bytes
    subkey: bytes
    value: bytes
    expires: float


class RecordValidator(Protocol):
    """One rule."""

    @property
    def priority(self) -> int:
        """Higher: signs later and checks earlier."""

    def validate(self, record: RawRecord) -> bool:
        """Whether the record keeps the rule. Must not raise, whatever a peer sent."""

    def sign_value(self, record: RawRecord) -> bytes:
        """Return the value with what the rule adds to it."""

    def strip_value(self, record: RawRecord) -> bytes:
        """Return the value without what `sign_value` added."""

    def merge_with(self, other: RecordValidator) -> bool:
        """Take over the rule of another validator; return False to stay apart.

        Is called on a shallow copy: bind new containers to it, and leave alone those that it shares.
        """


@runtime_checkable
class Ownership(Protocol):
    """What a rule may also have: subkeys that belong to somebody, which no plain value replaces."""

    def is_owned(self, subkey: bytes) -> bool:
        """Whether only its owner can write a packed subkey."""


class CompositeValidator:
    """Several validators as one."""

    priority = 0

    def __init__(self, validators: Iterable[RecordValidator] = ()) -> None:
        self._validators: list[RecordValidator] = []
        self.extend(validators)

    def extend(self, validators: Iterable[RecordValidator]) -> None:
        """Add rules."""
        for validator in validators:
            for position, own in enumerate(self._validators):
                merged = copy(own)  # whoever gave us the validator may use it elsewhere, with its own rule only
                if merged.merge_with(validator):
                    self._validators[position] = merged
                    break
            else:
                self._validators.append(validator)
        self._validators.sort(key=lambda validator: validator.priority)

    def validate(self, record: RawRecord) -> bool:
        """Whether all rules are kept, each seeing the value as its own `sign_value` left it."""
        for validator in reversed(self._validators):
            if not validator.validate(record):
                return False
            record = record._replace(value=validator.strip_value(record))
        return True

    def sign_value(self, record: RawRecord) -> bytes:
        """Return the value with what every rule adds."""
        for validator in self._validators:
            record = record._replace(value=validator.sign_value(record))
        return record.value

    def strip_value(self, record: RawRecord) -> bytes:
        """Return the value as its owner gave it."""
        for validator in reversed(self._validators):
            record = record._replace(value=validator.strip_value(record))
        return record.value

    def is_owned(self, subkey: bytes) -> bool:
        """Whether by one of the rules a packed subkey belongs to somebody."""
        return any(isinstance(rule, Ownership) and rule.is_owned(subkey) for rule in self._validators)

    def merge_with(self, other: RecordValidator) -> bool:
        """Stay apart: a composite is not a rule of its own."""
        return False


async def check_in_slices(validator: RecordValidator, records: Sequence[RawRecord]) -> list[bool]:
    """Return which records keep the rule; everything else on the loop has its turn after each slice of them."""
    verdicts: list[bool] = []
    for start in range(0, len(records), SLICE):
        if start:
            await asyncio.sleep(0)
        verdicts += map(validator.validate, records[start : start + SLICE])
    return verdicts
