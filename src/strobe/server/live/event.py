"""Events as they are sent: Server-Sent Events, whose id says where a client that comes back had got to."""

from __future__ import annotations

from typing import Any

import msgspec

from strobe.api.jsonable import jsonable

#: browsers come back after so many milliseconds
RETRY_MS = 1000


class Event(msgspec.Struct, frozen=True, gc=False):
    """Something that happened to a run."""

    number: int
    #: run or series
    name: str
    run_id: int
    project_id: int
    #: of a series
    key: str | None
    #: the run's time of change, by the servers' clocks
    changed_ns: int
    data: bytes


class Place(msgspec.Struct, frozen=True):
    """What a `Last-Event-ID` says: which hub counted, how far, and when that was."""

    hub: str
    number: int
    changed_ns: int

    @classmethod
    def parse(cls, text: str) -> Place | None:
        """Return the place, or None for what no hub of ours wrote."""
        hub, _, rest = text.partition("-")
        number, _, changed_ns = rest.partition("-")
        if not (hub and number.isdecimal() and changed_ns.isdecimal() and len(text) < 100):
            return None
        place = cls(hub, int(number), int(changed_ns))
        return place if place.changed_ns < 2**63 else None  # later than any database knows

    def __str__(self) -> str:
        return f"{self.hub}-{self.number}-{self.changed_ns}"


def encode_data(fields: dict[str, Any]) -> bytes:
    return msgspec.json.encode(jsonable(fields))


def written(name: str, data: bytes, place: Place | None = None) -> bytes:
    """Return the bytes of one event. JSON holds no line breaks, so one data line is enough."""
    lines = [f"event: {name}".encode(), b"data: " + data]
    if place is not None:
        lines.insert(0, f"id: {place}".encode())
    return b"\n".join(lines) + b"\n\n"
