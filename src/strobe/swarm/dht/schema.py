"""Records that have the form their users agreed on: for each key, a type that its values must be.

A rule is a type that msgspec can check (`int`, `list[float]`, a Struct; `dict[str, int]` means subkeys that are text
with values that are numbers) or a function that tells whether a value is right. Types are strict: 1 is no text, and "1"
is no number. As peers see only the hash of a key, rules are for exact keys.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, get_args, get_origin

import msgspec

from strobe.errors import UsageError
from strobe.swarm.dht.id import place_of
from strobe.swarm.dht.validator import RawRecord, RecordValidator
from strobe.swarm.dht.value import Undecodable, unpack

_log = logging.getLogger("strobe.swarm.dht")

#: of a plain value: a type, or a function of the value
Rule: TypeAlias = Any
Check: TypeAlias = Callable[[Any], bool]


@dataclass(frozen=True)
class Subkeys:
    """The rule for a dictionary: what its subkeys and their values must be."""

    subkey: Rule
    value: Rule


class SchemaValidator:
    """Values must be of the type that the schema says for their key."""

    priority = 0

    def __init__(self, schema: Mapping[Any, Rule], *, allow_extra_keys: bool = True) -> None:
        self._rules: dict[bytes, list[tuple[Check | None, Check]]] = {}
        self._allow_extra_keys = allow_extra_keys
        for key, rule in schema.items():
            self._rules[place_of(key)] = [_checks(rule)]

    def validate(self, record: RawRecord) -> bool:
        """Whether the record has the form that one of the schemas says."""
        rules = self._rules.get(record.key)
        if rules is None:
            return self._allow_extra_keys
        try:
            value = unpack(record.value)
            subkey = unpack(record.subkey) if record.subkey else None
        except Undecodable:
            return False
        for check_subkey, check_value in rules:
            if (check_subkey is not None) != bool(record.subkey):
                continue
            if (check_subkey is None or check_subkey(subkey)) and check_value(value):
                return True
        return False

    def sign_value(self, record: RawRecord) -> bytes:
        """Return the value: a schema adds nothing to it."""
        return record.value

    def strip_value(self, record: RawRecord) -> bytes:
        """Return the value."""
        return record.value

    def merge_with(self, other: RecordValidator) -> bool:
        """Accept what either schema accepts, unless one of them allows no other keys."""
        if not isinstance(other, SchemaValidator):
            return False
        self._rules = self._rules | {place: self._rules.get(place, []) + rules for place, rules in other._rules.items()}
        self._allow_extra_keys = self._allow_extra_keys and other._allow_extra_keys
        return True


def _checks(rule: Rule) -> tuple[Check | None, Check]:
    if isinstance(rule, Subkeys):
        return _check(rule.subkey), _check(rule.value)
    origin: Any = get_origin(rule)
    if origin is dict:
        subkey, value = get_args(rule)
        return _check(subkey), _check(value)
    return None, _check(rule)


def _check(rule: Rule) -> Check:
    # Functions of this module, not closures: what makes up a validator has to get into another process.
    is_type = isinstance(rule, type) or get_origin(rule) is not None or rule is Any or rule is None
    if callable(rule) and not is_type:
        return partial(_keeps, rule)
    try:
        msgspec.msgpack.Decoder(rule)
    except TypeError as exc:
        raise UsageError(f"the rule {rule!r:.80} is neither a type that msgspec knows ({exc}) nor a function") from exc
    return partial(_keeps, partial(_is_of, rule))


def _keeps(check: Check, value: Any) -> bool:
    try:
        return bool(check(value))
    except msgspec.ValidationError:
        return False
    except Exception:  # noqa: BLE001  # a rule that stumbles over a stranger's value has said what it thinks of it
        _log.debug("a rule raised, which refuses the value", exc_info=True)  # else a fault of its own stays hidden
        return False


def _is_of(kind: Any, value: Any) -> bool:
    msgspec.convert(value, kind, strict=True, builtin_types=(bytes, bytearray))
    return True
