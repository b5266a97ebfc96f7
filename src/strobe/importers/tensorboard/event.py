"""Events: the records of an event file. Most are one scalar, and those are read without taking the message apart.

A scalar's event is its time, its step, and a summary that ends in the four bytes of the value; all else in it is the
same each time the tag is written. So what was taken apart once is recognized by those bytes the next time.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct

from strobe.importers.protobuf import Message, read_varint, signed
from strobe.importers.tensorboard import fields

_read_float = Struct("<f").unpack_from
_read_time = Struct("<Bd").unpack_from
#: tag bytes of wall_time, step and summary in an event
_WALL_TIME, _STEP, _SUMMARY = 0x09, 0x10, 0x2A
#: time 9 bytes, summary and value with their lengths 4, value 5
_SHORTEST = 18
#: tags remembered; a program that makes ever new ones must not fill the memory
_MAX_TAGS = 1 << 16


@dataclass(slots=True)
class Event:
    """One record."""

    wall_s: float
    step: int
    file_version: str = ""
    is_start: bool = False
    #: what the summary holds, taken apart as far as that
    values: list[Message] | None = None
    #: kinds of content that have no place in a run
    left_out: list[str] | None = None


class EventReader:
    """Decodes the records of one run."""

    def __init__(self) -> None:
        #: the bytes of a summary up to its value → tag
        self._scalars: dict[bytes, str] = {}

    def scalar(self, payload: bytes) -> tuple[float, int, str, float] | None:
        """Return (seconds, step, tag, value) of an event like one that was read before, else None."""
        if len(payload) < _SHORTEST or payload[0] != _WALL_TIME:
            return None
        at, step = 9, 0
        if payload[9] == _STEP:
            step, at = read_varint(payload, 10)
            if step >> 63:
                step = signed(step)
        tag = self._scalars.get(payload[at:-4])
        if tag is None:
            return None
        return _read_time(payload)[1], step, tag, _read_float(payload, len(payload) - 4)[0]

    def read(self, payload: bytes) -> Event:
        """Return any event; raises WireError for what is none."""
        message = Message(payload)
        event = Event(message.double(fields.Event.WALL_TIME), message.integer(fields.Event.STEP))
        event.file_version = message.text(fields.Event.FILE_VERSION)
        session = message.message(fields.Event.SESSION_LOG)
        event.is_start = session is not None and session.integer(fields.SessionLog.STATUS) == fields.SessionLog.START
        summary = message.message(fields.Event.SUMMARY)
        if summary is not None:
            event.values = list(summary.messages(fields.Summary.VALUE))
            self._learn(payload, message, event.values)
        event.left_out = [name for number, name in fields.Event.LEFT_OUT if number in message]
        return event

    def _learn(self, payload: bytes, message: Message, values: list[Message]) -> None:
        if len(values) != 1 or values[0].numbers != [fields.Value.TAG, fields.Value.SIMPLE]:
            return
        if message.numbers not in ([1, 2, 5], [1, 5]) or payload[0] != _WALL_TIME:
            return
        at = read_varint(payload, 10)[1] if payload[9] == _STEP else 9
        # Only if nothing but the one value is in there are the last four bytes the value.
        if payload[at] == _SUMMARY and payload[-5] == fields.Value.SIMPLE << 3 | 5:
            if len(self._scalars) >= _MAX_TAGS:
                self._scalars.clear()
            self._scalars[payload[at:-4]] = values[0].text(fields.Value.TAG)
