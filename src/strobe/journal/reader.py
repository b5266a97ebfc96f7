"""Reading segments: from the start or as they grow, in this process or another.

A reader never trusts a byte whose checksum did not hold and never stops without saying why: `damages` lists what is
not readable, `torn` where the last record was cut short (a killed process, or one that is writing just now).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from strobe.errors import JournalError, JournalVersion
from strobe.journal import value
from strobe.journal.entry import Entry, Noted, Row
from strobe.journal.event import AnyEvent, Event, Unknown
from strobe.journal.frame import EVENT, FILL, HEADER, KEYS, MAGIC, ROW, SEAL, VERSION, Damage, Frame, scan
from strobe.journal.segment import Header, Seal, header_from_name, list_segments, parse_name

_CHUNK = 256 << 10


_decode_header = msgspec.msgpack.Decoder(Header).decode
_decode_seal = msgspec.msgpack.Decoder(Seal).decode
_decode_known: Callable[[bytes], Event] = msgspec.msgpack.Decoder(AnyEvent, ext_hook=value.decode_extension).decode


def decode_event(payload: bytes) -> Event:
    """Return the event that a record or a batch holds; Unknown for one of a newer version."""
    try:
        return _decode_known(payload)
    except msgspec.ValidationError:
        fields = value.decode(payload)
        name = str(fields.pop("type", "?"))
        return Unknown(time_ns=int(fields.pop("time_ns", 0)), name=name, fields=fields)


class SegmentReader:
    """Reads one segment; `poll()` again for what was appended since."""

    def __init__(self, path: Path, *, latest_ns: int = 0) -> None:
        self.path = path
        #: from the file name until the header record was read (and for ever if that record is damaged)
        self.header = header_from_name(path)
        self.offset = 0
        self.seal: Seal | None = None
        self.num_frames = 0
        self.num_unknown = 0
        #: where the last record is cut short, or None
        self.torn: int | None = None
        self._damages: list[Damage] = []
        self._tail_damage: Damage | None = None
        self._keys: dict[int, tuple[str, ...]] = {}
        self._ready: deque[Entry] = deque()
        #: the latest time in it, which the writer's next segment goes on from
        self.latest_ns = latest_ns

    @property
    def damages(self) -> list[Damage]:
        """Everything in the file, up to its end as of the last poll, that is not what was written."""
        return self._damages + ([self._tail_damage] if self._tail_damage else [])

    def poll(self) -> Iterator[Entry]:
        """Yield the entries appended since the last poll, and those that it was left with.

        Raises JournalError if this is not a journal of ours.
        """
        # One by one: what a caller who stops early did not get must still be there the next time.
        ready = self._ready
        while ready:
            yield ready.popleft()
        with open(self.path, "rb", buffering=0) as stream:
            while True:
                size = os.fstat(stream.fileno()).st_size
                if size <= self.offset:
                    return
                data = _read_at(stream, self.offset, min(size - self.offset, self._wanted))
                before = self.offset
                self._take(data)
                while ready:
                    yield ready.popleft()
                if self.offset == before:
                    if before + len(data) >= size:
                        return
                    self._wanted *= 2  # one record is longer than a chunk
                else:
                    self._wanted = _CHUNK

    _wanted = _CHUNK

    @property
    def is_done(self) -> bool:
        """Whether everything was handed out and nothing will follow."""
        return self.seal is not None and not self._ready

    def _take(self, data: bytes) -> None:
        base, start = self.offset, 0
        if base == 0:
            if len(data) < len(MAGIC):
                self.torn = 0 if MAGIC.startswith(data) else None
                self._tail_damage = (
                    None if MAGIC.startswith(data) else Damage(0, len(data), "not the start of a journal")
                )
                return
            self._check_magic(data)
            start = len(MAGIC)
        found = scan(data, start, base)
        self._damages += found.damages
        end = base + len(data)
        self.offset = found.stop
        self.torn = found.stop if found.rest == "torn" else None
        self._tail_damage = (
            Damage(found.stop, end, _describe_tail(data[found.stop - base :])) if found.rest == "damage" else None
        )
        for frame in found.frames:
            entry = self._entry(frame)
            if entry is not None:
                self._ready.append(entry)

    def _check_magic(self, data: bytes) -> None:
        if data[:7] != MAGIC[:7]:
            raise JournalError(f"{self.path}: begins with {data[:8]!r}, not a Strobe journal")
        if data[7] != VERSION:
            raise JournalVersion(
                f"{self.path}: journal version {data[7]}, this Strobe reads version {VERSION}; "
                "upgrade Strobe (pip install -U strobe), or the byte is damaged"
            )

    def _entry(self, frame: Frame) -> Entry | None:
        self.num_frames += 1
        try:
            return self._decode(frame)
        except (msgspec.MsgspecError, ValueError, TypeError, IndexError, RecursionError) as error:
            # The checksum held, so this was written so: a writer's fault, still never a wrong value.
            self._damages.append(Damage(frame.offset, frame.offset, f"record does not decode: {error}"))
            return None

    def _decode(self, frame: Frame) -> Entry | None:
        sequence = self.header.first_sequence + frame.sequence
        if frame.kind == ROW:
            key_set, step, time_ns, *values = value.decode(frame.payload)
            keys = self._keys.get(key_set)
            if keys is None or len(keys) != len(values):
                self._damages.append(
                    Damage(frame.offset, frame.offset, "the names of this row's keys were in a damaged record")
                )
                return None
            if time_ns > self.latest_ns:
                self.latest_ns = time_ns
            return Row(sequence, step, time_ns, keys, values, False, self.latest_ns, sequence)
        if frame.kind == KEYS:
            key_set, names = value.decode(frame.payload)
            self._keys[key_set] = tuple(names)
        elif frame.kind == FILL:
            row_sequence, step, time_ns, filled = value.decode(frame.payload)
            return Row(row_sequence, step, time_ns, tuple(filled), list(filled.values()), True, time_ns, sequence)
        elif frame.kind == EVENT:
            event = decode_event(frame.payload)
            self.num_unknown += isinstance(event, Unknown)
            self.latest_ns = max(self.latest_ns, event.time_ns)
            return Noted(sequence, event, self.latest_ns)
        elif frame.kind == HEADER:
            self.header = _decode_header(frame.payload)
        elif frame.kind == SEAL:
            self._check_seal(frame, _decode_seal(frame.payload))
        else:
            self.num_unknown += 1
        return None

    def _check_seal(self, frame: Frame, seal: Seal) -> None:
        self.seal = seal
        self._keys = {}
        missing = seal.frames - (self.num_frames - 1)
        if missing > 0 and not self._damages:
            self._damages.append(Damage(frame.offset, frame.offset, f"{missing} records are missing before the seal"))


class JournalReader:
    """Reads all segments of a journal directory, also those that appear later."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.segments: dict[str, SegmentReader] = {}
        #: segments that cannot be read, with the reason
        self.refused: dict[str, str] = {}
        self._latest_ns: dict[str, int] = {}

    def poll(self) -> Iterator[tuple[Header, Entry]]:
        """Yield what was appended since, writer by writer."""
        for path in list_segments(self.directory):
            reader = self.segments.get(path.name)
            if reader is None:
                _, writer, _ = parse_name(path)
                reader = self.segments[path.name] = SegmentReader(path, latest_ns=self._latest_ns.get(writer, 0))
            elif reader.is_done:
                continue
            try:
                for entry in reader.poll():
                    yield reader.header, entry
                self.refused.pop(path.name, None)
            except FileNotFoundError:  # removed since we looked
                self._forget(path.name, reader)
            except (JournalError, OSError) as error:
                # The fault may pass: what was read stays read, and the rest is tried again the next time.
                self.refused[path.name] = str(error)
                self._forget(path.name, reader)
            self._latest_ns[reader.header.writer] = reader.latest_ns

    def _forget(self, name: str, reader: SegmentReader) -> None:
        if not reader.offset:
            del self.segments[name]

    @property
    def damages(self) -> list[tuple[str, Damage]]:
        """(segment name, damage) for everything unreadable."""
        found = [(name, damage) for name, reader in self.segments.items() for damage in reader.damages]
        return found + [(name, Damage(0, 0, reason)) for name, reason in self.refused.items()]


def _read_at(stream: Any, offset: int, size: int) -> bytes:
    stream.seek(offset)
    parts = []
    while size > 0 and (part := stream.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _describe_tail(rest: bytes) -> str:
    if not rest.strip(b"\0"):
        return "zeros to the end of the file, as after a power failure"
    return "no record can be read from here to the end"
