"""The writer: appends records to segments so that whatever `row()` returned from survives a `kill -9`.

One write(2) per row, straight from the caller, no queue, no thread. The writer never raises for a fault of the disk:
it counts what it could not record, warns once, and records again as soon as the disk lets it. A record that went in
only partly is cut off again, or the segment is left behind; so no torn record ever hides later ones.
"""

from __future__ import annotations

import errno
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import time_ns
from typing import Any
from zlib import crc32

import msgspec

from strobe.journal import value
from strobe.journal.append import Append, append_nowhere, choose_append
from strobe.journal.descriptor import close_descriptor, create_segment
from strobe.journal.event import Console, Event
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
_LOST_FILE = {
    errno.EBADF,
    errno.ESTALE,
    errno.EIO,
    errno.ENODEV,
    errno.ENXIO,
    errno.EFBIG,  # a limit for one file (ulimit -f, the file system's own)
    errno.ENOTCONN,  # a user-space file system that died and was mounted again
    errno.ECONNABORTED,
}
#: events that the disk did not take are kept up to this size, to be recorded when it takes some again
_MAX_OWED_BYTES = 1 << 20


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
        # What is in this segment, for its seal: other records than rows, and the rows of the segments before.
        self._num_others = 0
        self._rows_before = 0
        self._key_sets: dict[tuple[str, ...], int] = {}
        self._next_key_set = 0
        self._num_names = 0
        self._owed: deque[bytes] = deque()
        self._owed_bytes = 0
        self._check_at = 0
        self._faulty = False
        self._lost = False
        self._closed = False
        self._append: Append = append_nowhere
        self._lost = not self._open(header)

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
        payload = self._encode([key_set, step, now, *data.values()])
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

    def row_at(self, data: Mapping[str, Any], step: int, at_ns: int) -> int:
        """Do what `row` does for a row that was logged at another time than now: one brought over from elsewhere."""
        with self.lock:
            keys = tuple(data)
            key_set = self._key_sets.get(keys)
            if key_set is None:
                number = self._row_of_new_keys(keys, data, step, at_ns)
            else:
                payload = self._encode([key_set, step, at_ns, *data.values()])
                if len(payload) > MAX_ROW_BYTES:
                    raise RowTooLarge(len(payload))
                number, sequence = self.sequence, self._sequence
                self._sequence = sequence + 1
                if self._put(encode_frame(ROW, sequence, payload)):
                    self.rows += 1
            self._check_if_due()
            return number

    def fill(self, sequence: int, step: int, time_ns: int, values: Mapping[str, Any]) -> None:
        """Supply values of an earlier row that were holes when it was written."""
        with self.lock:
            self._record(FILL, self._encode((sequence, step, time_ns, dict(values))))

    def event(self, event: Event) -> None:
        """Record an event. One that the disk does not take now is recorded when it does; text from a console is not."""
        payload = value.encode_text(event)
        with self.lock:
            if not self._pay():
                self.rejected += 1
            elif self._record(EVENT, payload):
                return
            if not isinstance(event, Console) and self._owed_bytes + len(payload) <= _MAX_OWED_BYTES:
                self._owed.append(payload)
                self._owed_bytes += len(payload)

    def sync(self) -> None:
        """Make what was recorded survive a power failure, too, unless nobody is to do that (`fsync="never"`)."""
        if self._fsync == "never":
            return
        try:
            with self.lock:
                # A descriptor of our own, because a rotation may close the other one meanwhile.
                fd = os.dup(self._fd) if self._fd >= 0 else -1
        except OSError as error:
            self._note_fault(error)
            return
        if fd >= 0:
            self._flush(fd)
            close_descriptor(fd)

    def check(self) -> None:
        """Look after the file now: write a vanished one anew, and record what a full disk did not take before."""
        with self.lock:
            self._check(time_ns())

    def close(self, last: Event | None = None) -> None:
        """Record `last` and seal the segment. Records after this are rejected."""
        with self.lock:
            if self._closed:
                return
            # A file that vanished or is no longer ours is found out before the last words go into it.
            self._check(time_ns())
            if last is not None:
                self.event(last)
            self._closed = True
            self._seal()
            if self._fsync != "never":
                self._flush_earlier()
            self._close_file(sync=self._fsync != "never")

    def forget(self) -> None:
        """Let go of the file without a word in it: for the child of a fork, where the parent goes on writing."""
        self._closed = True
        with suppress(OSError):
            status = os.fstat(self._fd)
            if not self._is_ours(status):
                self._fd = -1  # somebody closed it, and the number is another file's now
        self._close_file(sync=False)

    # -- writing -----------------------------------------------------------------------------------------------------

    def _row_of_new_keys(self, keys: tuple[str, ...], data: Mapping[str, Any], step: int, now: int) -> int:
        if (len(self._key_sets) >= _MAX_KEY_SETS or self._num_names >= _MAX_KEY_NAMES) and not _is_reentered(self.lock):
            self._rotate()
        if not all(type(key) is str for key in keys):
            raise TypeError("the keys of a row must be strings")
        # Taken at once and never given back: a signal handler may log new keys before we are done with ours.
        key_set = self._next_key_set
        self._next_key_set = key_set + 1
        payload = self._encode([key_set, step, now, *data.values()])
        if len(payload) > MAX_ROW_BYTES:
            raise RowTooLarge(len(payload))
        names = value.encode_text((key_set, keys))
        sequence = self._sequence
        self._sequence = sequence + 2
        # Two writes, because a failed one is undone, and a reader may have seen the names already.
        if self._put(encode_frame(KEYS, sequence, names)):
            self._num_others += 1
            self._key_sets[keys] = key_set
            self._num_names += len(keys)
            if self._put(encode_frame(ROW, sequence + 1, payload)):
                self.rows += 1
        number = self._first_sequence + sequence + 1
        if now > self._check_at:
            self._check(now)
        return number

    def _record(self, kind: int, payload: bytes) -> bool:
        is_recorded = self._put_other(kind, payload)
        self._check_if_due()
        return is_recorded

    def _pay(self) -> bool:
        """Record the events that the disk did not take when they happened; return whether none is left."""
        while self._owed:
            self.rejected -= 1  # it is either recorded now or counted again
            if not self._put_other(EVENT, self._owed[0]):
                return False
            self._owed_bytes -= len(self._owed.popleft())
        return True

    def _put_other(self, kind: int, payload: bytes) -> bool:
        sequence = self._sequence
        self._sequence = sequence + 1
        if self._put(encode_frame(kind, sequence, payload)):
            self._num_others += 1
            return True
        return False

    def _put(self, record: bytes) -> bool:
        written = self._append(self._fd, record, len(record))
        return written == len(record) or self._rescue(record, written)

    def _rescue(self, record: bytes, written: int) -> bool:
        """Get in the rest of a record that the fast call did not write; else undo it and count it as rejected."""
        if self._closed or (self._lost and written < 0):
            self.rejected += 1
            return False
        written = max(written, 0)
        try:
            while written < len(record):
                written += os.write(self._fd, record[written:])
        except OSError as error:
            self._undo(written)
            if error.errno in _LOST_FILE:
                self._lose()
            self.rejected += 1
            self._note_fault(error)
            return False
        except BaseException:  # Ctrl-C; what is torn must not stay
            self._undo(written)
            raise
        return True

    def _undo(self, written: int) -> None:
        if written:
            try:
                os.ftruncate(self._fd, os.fstat(self._fd).st_size - written)
            except OSError:
                # The torn record stays, so nothing may follow it in this file.
                self._lose()
                self._append = append_nowhere

    def _lose(self) -> None:
        if not self._lost:
            self._lost = True
            self._check_at = 0  # look for a new file now, not when the next check is due

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

    def _check_if_due(self) -> None:
        now = time_ns()
        # The clock may have been set back: then it is below what the last check began with.
        if not 0 <= self._check_at - now <= self._check_ns:
            self._check(now)

    def _check(self, now: int) -> None:
        # Not inside another record, whose key set belongs to the segment that is open now.
        if self._closed or _is_reentered(self.lock):
            return
        self._check_at = now + self._check_ns
        try:
            status = os.fstat(self._fd)
        except OSError as error:
            self._lost = True
            if error.errno == errno.EBADF:
                self._fd = -1
        else:
            if not self._is_ours(status):
                # Somebody closed our descriptor and its number now belongs to another file: hands off.
                self._lost, self._fd, self._append = True, -1, append_nowhere
            elif status.st_nlink == 0:
                self._resurrect()
            elif status.st_size >= self._segment_bytes:
                self._rotate()
        if self._lost:
            self._open(self._next_header())
        self._pay()

    def _is_ours(self, status: os.stat_result) -> bool:
        if (status.st_dev, status.st_ino) == self._file_id:
            return True
        # Some network and user-space file systems give a file a new number: then our name leads to that one, too.
        try:
            is_ours = os.path.samestat(status, os.stat(self.segment))
        except OSError:
            return False
        if is_ours:
            self._file_id = (status.st_dev, status.st_ino)
        return is_ours

    def _next_header(self) -> Header:
        return msgspec.structs.replace(
            self.header, index=self.header.index + 1, first_sequence=self.sequence, created_ns=time_ns()
        )

    def _open(self, header: Header, *, content: bytes | None = None) -> bool:
        """Go on in the segment of `header`; on failure keep what is open, for the next check to try again."""
        try:
            old = self._switch(header, content)
        except OSError as error:
            self._note_fault(error)
            return False
        close_descriptor(old)
        return True

    def _switch(self, header: Header, content: bytes | None = None) -> int:
        """Open a new segment and return the descriptor of the old one."""
        while True:
            path = self.directory / header.name
            try:
                fd = create_segment(path)
                break
            except FileExistsError:  # what could not be removed again, or was put back from a backup
                header = msgspec.structs.replace(header, index=header.index + 1)
        rest = MAGIC + encode_frame(HEADER, 0, value.encode_text(header)) if content is None else content
        try:
            while rest:
                rest = rest[os.write(fd, rest) :]
            status = os.fstat(fd)
        except BaseException:
            close_descriptor(fd)
            with suppress(OSError):
                path.unlink()
            raise
        self._file_id = (status.st_dev, status.st_ino)
        old, self._fd = self._fd, fd
        self.header = header
        self._first_sequence = header.first_sequence
        self._lost = False
        if content is None:
            self._sequence = 1
            self._num_others = 1
            self._rows_before = self.rows
            self._key_sets = {}
            self._next_key_set = 0
            self._num_names = 0
        self._check_at = time_ns() + self._check_ns
        self._append = self._append_and_flush if self._fsync == "always" else choose_append(self.directory)
        return old

    def _rotate(self) -> None:
        """Go on in a new segment; it exists before the old one is sealed, so a reader never misses it."""
        if self._fd < 0:
            return
        header = self._next_header()
        num_frames, sequence = self._num_frames, self._sequence
        try:
            old = self._switch(header)
        except OSError:
            return  # the old one only grows larger; if the disk takes nothing any more, the next record tells
        with suppress(OSError):
            os.write(old, _encode_seal(sequence, num_frames, self.header.name))
        close_descriptor(old)

    def _resurrect(self) -> None:
        """The directory was deleted under us, but the open file still holds everything: write it out again."""
        try:
            content = os.pread(self._fd, os.fstat(self._fd).st_size, 0)
        except OSError as error:
            self._note_fault(error)
            return
        if self._open(self.header, content=content) and self._warn is not None:
            self._warn(f"{self.directory} had vanished; it was written anew with everything recorded so far")

    @property
    def _num_frames(self) -> int:
        # Counted after the write: a row cut off by Ctrl-C may be one too few, which no reader takes for a loss.
        return self._num_others + self.rows - self._rows_before

    def _seal(self) -> None:
        if self._fd >= 0 and not self._lost:
            record = _encode_seal(self._sequence, self._num_frames, None)
            written = self._append(self._fd, record, len(record))
            if written != len(record):
                self._undo(max(written, 0))
                self._note_fault(OSError(errno.EIO, "could not seal the segment"))

    def _close_file(self, *, sync: bool) -> None:
        fd, self._fd = self._fd, -1
        self._append = append_nowhere
        if fd >= 0:
            if sync:
                self._flush(fd)
            close_descriptor(fd)

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
            close_descriptor(fd)

    def _flush(self, fd: int) -> None:
        try:
            os.fsync(fd)
        except OSError as error:
            self._note_fault(error)


def put_in_parts(
    put_row: Callable[[Mapping[str, Any], int], int], values: dict[str, Any], step: int
) -> list[tuple[int, dict[str, Any]]]:
    """Record a row and return its sequence number; one that is too large becomes several, which merge again."""
    try:
        return [(put_row(values, step), values)]
    except RowTooLarge:
        if len(values) < 2:
            raise
        items, half = list(values.items()), len(values) // 2
        return put_in_parts(put_row, dict(items[:half]), step) + put_in_parts(put_row, dict(items[half:]), step)


def _is_reentered(lock: threading.RLock) -> bool:
    """Whether the caller holds `lock` more than once: it is a signal handler or finalizer inside another record."""
    count = getattr(lock, "_recursion_count", None)
    # Where Python does not tell (3.10), the lock's text does.
    return bool(count() > 1) if count is not None else not any(f" count={n} " in repr(lock) for n in (0, 1))


def _encode_seal(sequence: int, num_frames: int, successor: str | None) -> bytes:
    return encode_frame(SEAL, sequence, value.encode(Seal(num_frames, successor)))
