"""What a benchmark program says, as values. The other side of `programs.talk`."""

from __future__ import annotations

import msgspec

from strobe.errors import Error


class _Event(msgspec.Struct, tag_field="event", tag=str.lower):
    pass


class About(_Event):
    """Who speaks: its version, and facts such as the device that it runs on."""

    version: str
    facts: dict[str, str] = {}


class Began(_Event):
    """A phase of `total` steps begins; the program waits for a line."""

    phase: str
    total: int = 0
    figures: dict[str, float] = {}


class Progress(_Event):
    """How much is done of a phase; `figures` tell of the last step, where each is worth a line."""

    phase: str
    done: int
    total: int
    figures: dict[str, float] = {}


class Ended(_Event):
    """A phase has ended after `seconds`; the program waits for a line."""

    phase: str
    seconds: float
    figures: dict[str, float] = {}


class Finished(_Event):
    """All has been measured."""


Event = About | Began | Progress | Ended | Finished

_decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def parse(line: str) -> Event:
    """Return the event of a line; strobe.Error if it is none."""
    try:
        return _decoder.decode(line)
    except msgspec.DecodeError as exc:
        raise Error(f"a benchmark program said {line.strip()[:200]!r}, which is no event ({exc})") from exc
