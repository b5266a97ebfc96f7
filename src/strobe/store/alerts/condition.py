"""What a rule looks for, as values: four kinds, each a few fields. The API and the table hold them as JSON."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Level = Literal["INFO", "WARN", "ERROR"]
LEVELS: tuple[Level, ...] = ("INFO", "WARN", "ERROR")
Operator = Literal["<", "<=", ">", ">=", "==", "!="]
#: a key, or a pattern with * and ?
KeyPattern = Annotated[str, msgspec.Meta(min_length=1, max_length=512)]


class Nonfinite(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="nonfinite"):
    """A NaN or an infinity was logged. Speaks once per attempt and key."""

    key: KeyPattern = "*"


class Threshold(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="threshold"):
    """A metric was beyond a value for so many points in a row. Speaks once per attempt and key."""

    key: KeyPattern
    op: Operator
    value: float
    points: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1


class Stall(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="stall"):
    """A running run logged nothing for so long. Speaks once each time."""

    minutes: Annotated[float, msgspec.Meta(gt=0, le=100_000)]


class StateChange(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="state"):
    """A run ended in one of these ways."""

    states: Annotated[
        list[Literal["finished", "failed", "crashed", "killed", "preempted"]], msgspec.Meta(min_length=1, max_length=5)
    ]


Condition = Nonfinite | Threshold | Stall | StateChange

_decode = msgspec.json.Decoder(Condition).decode


def encode_condition(condition: Condition) -> str:
    return msgspec.json.encode(condition).decode()


def decode_condition(text: str) -> Condition:
    found: Condition = _decode(text)
    return found


def kind_of(condition: Condition) -> str:
    return str(type(condition).__struct_config__.tag)


def level_named(name: str) -> Level:
    """Return the level that a run gave its alert; one that is not known is an INFO."""
    return next((level for level in LEVELS if level == name.upper()), "INFO")
