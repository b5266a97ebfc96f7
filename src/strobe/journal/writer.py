"""The writer: appends records to segments so that whatever `row()` returned from survives a `kill -9`.

One write(2) per row, straight from the caller, no queue, no thread. The writer never raises for a fault of the disk:
it counts what it could not record, warns once, and records again as soon as the disk lets it. A record that went in
only partly is cut off again, or the segment is left behind; so no torn record ever hides later ones.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from time import time_ns
from typing import Any
from zlib import crc32

import msgspec

from strobe.journal import value
from strobe.journal.append import Append, choose_append
from strobe.journal.event import Event
from strobe.journal.frame import (
    EVENT,
    FILL,
    FRAME_SIZE,
    HEADER,
    KEYS,
    MAGIC,
    MARKER,
    ROW,
    SEAL,
    SEEDS,
    encode_frame,
    pack_frame,
)
from strobe.journal.segment import Header, Seal

DEFAULT_SEGMENT_BYTES = 64 << 20
#: the time between two looks at segment size and a vanished directory, and between two tries to open a new segment
_CHECK_NS = 200_000_000
#: a longer row is refused, so that readers of rows stay quick; the caller puts big values into files
MAX_ROW_BYTES = 4 << 20
#: a writer that sees ever new key sets starts a new segment instead of remembering them all
_MAX_KEY_SETS = 4096
_MAX_KEY_NAMES = 200_000
_ROW_SEED = SEEDS[ROW]
#: errors of the open file rather than of the space on the disk: only a new segment can help
_LOST_FILE = {errno.EBADF, errno.ESTALE, errno.EIO, errno.ENODEV, errno.ENXIO}


class RowTooLarge(ValueError):
    """A row is over MAX_ROW_BYTES; nothing was written."""


class Writer:
    """Appends to the journal in `directory` as the writer that `header` names. Safe to call from any thread."""

    def __init__(
        self,
        directory: Path,
        header: Header,
        *,
        segment_bytes: int = DEFAULT_SEGMENT_BYTES,
        fsync: str = "agent",
        check_ns: int = _CHECK_NS,
        warn: Callable[[str], None] | None = None,
        encode: Callable[[Any], bytes] = value.encode,
        lock: threading.RLock | None = None,
    ) -> None:
        self.directory = directory
        self.header = header
        #: rows and events that could not be recorded
        self.rejected = 0
        #: rows recorded
        self.rows = 0
        #: what a few of the rows cost, to tell Strobe's own share of the run's time without timing every row
        self.sampled_ns = 0
        self.num_sampled = 0
        self._segment_bytes = segment_bytes
        self._fsync = fsync
        self._check_ns = check_ns
        self._warn = warn
        self._encode = encode
        # Reentrant, because a signal handler or a finalizer may log while this thread is inside row().
        self.lock = threading.RLock() if lock is None else lock
        self._first_sequence = header.first_sequence
        self._first_index = header.index
        self._fd = -1
        self._file_id = (0, 0)
        self._sequence = 0
        # Sequence numbers of this segment that were given out but whose record could not be written.
        self._skipped = 0
        self._key_sets: dict[tuple[str, ...], int] = {}
        self._num_names = 0
        self._check_at = 0
        self._faulty = False
        self._lost = False
        self._closed = False
        self._append: Append = _append_nowhere
        self._open_next(header)

    @property
    def sequence(self) -> int:
        """The number that the next record will have."""
        return self._first_sequence + self._sequence

    @property
    def segment(self) -> Path:
        """The file now written to."""
        return self.directory / self.header.name

    def row(self, data: Mapping[str, Any], step: int) -> int:
        """Record one row and return its sequence number. Raises what `encode` raises, then nothing was written."""
        with self.lock:
            return self.put_row(data, step)

    def put_row(self, data: Mapping[str, Any], step: int) -> int:
        """Do what `row` does for a caller that holds `lock`. Every statement here is on the path of each log()."""
        keys = tuple(data)
        now = time_ns()
        key_set = self._key_sets.get(keys)
        if key_set is None:
            return self._row_of_new_keys(keys, data, step, now)
        payload = self._encode((key_set, step, now, *data.values()))
        length = len(payload)
        if length > MAX_ROW_BYTES:
            raise RowTooLarge(length)
        sequence = self._sequence
        self._sequence = sequence + 1
        record = (
            pack_frame(MARKER, ROW, length, length ^ 0xFFFFFFFF, sequence, crc32(payload, sequence ^ _ROW_SEED))
            + payload
        )
        length += FRAME_SIZE
        written = self._append(self._fd, record, length)
        if written == length or self._rescue(record, written):
            self.rows += 1
        number = self._first_sequence + sequence
        if now > self._check_at:
            self._sample(now)
            self._check(now)
        return number

    def fill(self, sequence: int, step: int, time_ns: int, values: Mapping[str, Any]) -> None:
        """Supply values of an earlier row that were holes when it was written."""
        with self.lock:
            self._record(FILL, self._encode((sequence, step, time_ns, dict(values))))

    def event(self, event: Event) -> int:
        """Record an event and return its sequence number."""
        payload = value.encode(event)
        with self.lock:
            sequence = self.sequence
            self._record(EVENT, payload)
            return sequence

    def sync(self) -> None:
        """Make what was recorded survive a power failure, too, unless nobody is to do that (`fsync="never"`)."""
        if self._fd >= 0 and self._fsync != "never":
            self._flush(self._fd)

    def close(self) -> None:
        """Seal the segment. Records after this are rejected."""
        with self.lock:
            if self._closed:
                return
            self._closed = True
            self._seal()
            if self._fsync != "never":
                self._flush_earlier()
            self._close_file(sync=self._fsync != "never")

    def forget(self) -> None:
        """Let go of the file without a word in it: for the child of a fork, where the parent goes on writing."""
        self._closed = True
        self._close_file(sync=False)

    # -- writing -----------------------------------------------------------------------------------------------------

    def _row_of_new_keys(self, keys: tuple[str, ...], data: Mapping[str, Any], step: int, now: int) -> int:
        if len(self._key_sets) >= _MAX_KEY_SETS or self._num_names >= _MAX_KEY_NAMES:
            self._rotate()
        if not all(type(key) is str for key in keys):
            raise TypeError("the keys of a row must be strings")
        key_set = len(self._key_sets)
        payload = self._encode((key_set, step, now, *data.values()))
        if len(payload) > MAX_ROW_BYTES:
            raise RowTooLarge(len(payload))
        names = value.encode((key_set, keys))
        sequence = self._sequence
        self._sequence = sequence + 2
        # Names and row go in with one write, so that a failure never leaves a row without its names.
        if self._put(encode_frame(KEYS, sequence, names) + encode_frame(ROW, sequence + 1, payload)):
            self._key_sets[keys] = key_set
            self._num_names += len(keys)
            self.rows += 1
        else:
            self._skipped += 1  # two records were lost, _rescue counted one
        number = self._first_sequence + sequence + 1
        if now > self._check_at:
            self._check(now)
        return number

    def _record(self, kind: int, payload: bytes) -> None:
        sequence = self._sequence
        self._sequence = sequence + 1
        self._put(encode_frame(kind, sequence, payload))
        now = time_ns()
        if now > self._check_at:
            self._check(now)

    def _put(self, record: bytes) -> bool:
        written = self._append(self._fd, record, len(record))
        return written == len(record) or self._rescue(record, written)

    def _rescue(self, record: bytes, written: int) -> bool:
        """Get in the rest of a record that the fast call did not write; else undo it and count it as rejected."""
        if self._closed:
            self.rejected += 1
            return False
        written = max(written, 0)
        try:
            while written < len(record):
                written += os.write(self._fd, record[written:])
        except OSError as error:
            self._undo(written)
            self._lost = self._lost or error.errno in _LOST_FILE
            self.rejected += 1
            self._skipped += 1
            self._note_fault(error)
            return False
        return True

    def _undo(self, written: int) -> None:
        if written:
            try:
                os.ftruncate(self._fd, os.fstat(self._fd).st_size - written)
            except OSError:
                # The torn record stays, so nothing may follow it in this file.
                self._lost = True

    def _note_fault(self, error: OSError) -> None:
        if not self._faulty:
            self._faulty = True
            if self._warn is not None:
                self._warn(
                    f"cannot record to {self.directory}: {error.strerror or error}; training goes on, "
                    "rows are rejected and counted until writing works again"
                )

    def _sample(self, began_ns: int) -> None:
        self.sampled_ns += max(0, time_ns() - began_ns)
        self.num_sampled += 1

    # -- segments ----------------------------------------------------------------------------------------------------

    def _check(self, now: int) -> None:
        self._check_at = now + self._check_ns
        if self._closed:
            return
        try:
            status = os.fstat(self._fd)
        except OSError:
            self._lost, self._fd = True, -1
        else:
            if (status.st_dev, status.st_ino) != self._file_id:
                # Somebody closed our descriptor and its number now belongs to another file: hands off.
                self._lost, self._fd, self._append = True, -1, _append_nowhere
            elif status.st_nlink == 0:
                self._resurrect()
            elif status.st_size >= self._segment_bytes:
                self._rotate()
        if self._lost:
            self._open_next(self._next_header())

    def _next_header(self) -> Header:
        return msgspec.structs.replace(
            self.header, index=self.header.index + 1, first_sequence=self.sequence, created_ns=time_ns()
        )

    def _open_next(self, header: Header, *, content: bytes | None = None) -> bool:
        """Open the segment of `header`; on failure keep what is open and try again a second later."""
        path = self.directory / header.name
        start = MAGIC + encode_frame(HEADER, 0, value.encode(header)) if content is None else content
        try:
            fd = _create(path)
        except OSError as error:
            self._note_fault(error)
            return False
        try:
            written = 0
            while written < len(start):
                written += os.write(fd, start[written:])
        except OSError as error:
            os.close(fd)
            path.unlink(missing_ok=True)
            self._note_fault(error)
            return False
        status = os.fstat(fd)
        self._file_id = (status.st_dev, status.st_ino)
        old, self._fd = self._fd, fd
        if old >= 0:
            os.close(old)
        self.header = header
        self._first_sequence = header.first_sequence
        self._lost = False
        if content is None:
            self._sequence = 1
            self._skipped = 0
            self._key_sets = {}
            self._num_names = 0
        self._check_at = time_ns() + self._check_ns
        self._append = self._append_and_flush if self._fsync == "always" else choose_append(self.directory)
        return True

    def _rotate(self) -> None:
        """Go on in a new segment; it exists before the old one is sealed, so a reader never misses it."""
        if self._fd < 0:
            return
        old_fd, next_header = os.dup(self._fd), self._next_header()
        seal = self._encode_seal(next_header.name)
        if self._open_next(next_header):
            try:
                os.write(old_fd, seal)
            except OSError as error:
                self._note_fault(error)
        os.close(old_fd)

    def _resurrect(self) -> None:
        """The directory was deleted under us, but the open file still holds everything: write it out again."""
        try:
            content = os.pread(self._fd, os.fstat(self._fd).st_size, 0)
        except OSError as error:
            self._note_fault(error)
            return
        if self._open_next(self.header, content=content) and self._warn is not None:
            self._warn(f"{self.directory} had vanished; it was written anew with everything recorded so far")

    def _encode_seal(self, successor: str | None) -> bytes:
        return encode_frame(SEAL, self._sequence, value.encode(Seal(self._sequence - self._skipped, successor)))

    def _seal(self) -> None:
        if self._fd >= 0 and not self._lost:
            record = self._encode_seal(None)
            written = self._append(self._fd, record, len(record))
            if written != len(record):
                self._undo(max(written, 0))
                self._note_fault(OSError(errno.EIO, "could not seal the segment"))

    def _close_file(self, *, sync: bool) -> None:
        fd, self._fd = self._fd, -1
        self._append = _append_nowhere
        if fd >= 0:
            if sync:
                self._flush(fd)
            os.close(fd)

    # -- flushing ----------------------------------------------------------------------------------------------------

    def _append_and_flush(self, fd: int, record: bytes, length: int) -> int:
        try:
            written = os.write(fd, record)
        except OSError:
            return -1
        if written == length:
            # A flush that fails takes nothing back: the record is in the file, and writing it again would double it.
            self._flush(fd)
        return written

    def _flush_earlier(self) -> None:
        """Flush the segments before this one; where an agent did that already it costs next to nothing."""
        for index in range(self._first_index, self.header.index):
            path = self.directory / msgspec.structs.replace(self.header, index=index).name
            try:
                fd = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
            except OSError:  # removed, or its directory is: then there is nothing to keep
                continue
            self._flush(fd)
            os.close(fd)

    def _flush(self, fd: int) -> None:
        try:
            os.fsync(fd)
        except OSError as error:
            self._note_fault(error)


def _create(path: Path) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        return os.open(path, flags, 0o644)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o644)


def _append_nowhere(fd: int, record: bytes, length: int) -> int:
    return -1
