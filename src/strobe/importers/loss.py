"""What of a foreign file could not be read: where, how much, why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """Bytes `start` to `end` of a file that are not what was written, or were not written to the end."""

    start: int
    end: int
    reason: str
    #: the file ends in the middle of a record, as a killed process leaves it: nothing before is affected
    is_torn: bool = False
