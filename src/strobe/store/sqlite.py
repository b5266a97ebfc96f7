"""SQLite as a `Database`: one file, nothing to start.

Write-ahead logging: readers see the last commit while one writer works. A commit is in the log file before it is
acknowledged, so a killed process loses nothing; the log is forced to the disk at checkpoints, so a power failure may
lose the last moments, which agents still hold and send again.
"""

from __future__ import annotations

import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from strobe.errors import StoreBusy, StoreError, StoreFull
from strobe.store.database import SQLITE, Cursor, Row, T

_BUSY_TIMEOUT_S = 30.0
_MAX_READERS = 8
_CACHE_KB = 16_384
#: what was written to the log when it is moved into the file; that waits for the disk, so writing goes on meanwhile
_LOG_BYTES = 64 << 20
#: what a commit writes beside its blobs: pages of rows and indexes, each whole
_COMMIT_BYTES = 32 << 10
#: what was written meanwhile is moved, too, until it is so little (in pages) that writing can wait for the rest
_FEW_PAGES = 1000
_MAX_ROUNDS = 8
#: a log is not begun anew while somebody reads from it, and with many readers somebody always does; when it has grown
#: to this, writing waits a moment for those who read, so that it does not fill the disk
_MAX_LOG_BYTES = 4 * _LOG_BYTES
_LOG_WAIT_S = 5.0


class SqliteDatabase:
    """A database file; made if it is not there."""

    dialect = SQLITE

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writing = threading.Lock()
        self._idle: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._permits = threading.BoundedSemaphore(_MAX_READERS)
        self._connections: list[sqlite3.Connection] = []
        self._log_path = path.with_name(f"{path.name}-wal")
        self._log_limit = _MAX_LOG_BYTES
        #: about what was written since the log was moved last, and how long its file was then
        self._logged = 0
        self._moved_at = 0
        self._mover = _LogMover(self._connect)
        with _translated(path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # It holds hashes of keys, the secret that sessions are signed with, and what people keep private.
            if not path.exists():
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._writer = self._connect()
            self._writer.execute("PRAGMA journal_mode = WAL")

    def read(self, ask: Callable[[Cursor], T]) -> T:
        with self._permits, _translated(self.path):
            connection = self._reader()
            try:
                connection.execute("BEGIN")
                try:
                    return ask(_SqliteCursor(connection))
                finally:
                    connection.execute("ROLLBACK")
            finally:
                self._idle.put(connection)

    def write(self, change: Callable[[Cursor], T]) -> T:
        with self._writing, _translated(self.path):
            connection = self._writer
            connection.execute("BEGIN IMMEDIATE")
            cursor = _SqliteCursor(connection)
            try:
                result = change(cursor)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk has rolled back by itself
                    connection.execute("ROLLBACK")
                raise
            self._tend_log(cursor.blob_bytes + _COMMIT_BYTES)
            return result

    def _tend_log(self, num_bytes: int) -> None:
        self._logged += num_bytes
        size = self._log_bytes()
        self._moved_at = min(self._moved_at, size)
        if self._logged > _LOG_BYTES or size - self._moved_at > _LOG_BYTES:
            self._logged, self._moved_at = 0, size
            self._mover.wake()
        if self._mover.has_moved.is_set():
            self._mover.has_moved.clear()
            # The file is kept and written over: to give its pages back and to ask for new ones costs more than moving.
            if self._begin_log_anew("RESTART", wait_s=0):
                return
        if size <= _MAX_LOG_BYTES:
            self._log_limit = _MAX_LOG_BYTES
        elif size > self._log_limit and not self._begin_log_anew("TRUNCATE", _LOG_WAIT_S):
            # Whoever reads for minutes, as a backup does, is not waited for again before it has doubled.
            self._log_limit = 2 * size

    def _log_bytes(self) -> int:
        try:
            return self._log_path.stat().st_size
        except FileNotFoundError:
            return 0

    def _begin_log_anew(self, how: Literal["RESTART", "TRUNCATE"], wait_s: float) -> bool:
        """Move what is left of the log into the file; False if somebody goes on reading from it."""
        try:
            self._writer.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")
            with self._mover.is_moving:  # SQLite lets one move at a time, and makes the other fail at once
                found = self._writer.execute(f"PRAGMA wal_checkpoint({how})").fetchone()
        except sqlite3.OperationalError:  # no room to do it; what was committed is safe where it is
            return False
        finally:
            self._writer.execute(f"PRAGMA busy_timeout = {int(_BUSY_TIMEOUT_S * 1000)}")
        return bool(found[0] == 0)

    def close(self) -> None:
        self._mover.close()
        with self._writing:
            for connection in self._connections:
                connection.close()
            self._connections.clear()

    def _reader(self) -> sqlite3.Connection:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False, cached_statements=512
        )
        for pragma in (
            "synchronous = NORMAL",
            "foreign_keys = ON",
            f"cache_size = -{_CACHE_KB}",
            "wal_autocheckpoint = 0",
            f"journal_size_limit = {_MAX_LOG_BYTES}",
            # Some builds (Debian's) write zeros over whatever is deleted: a tail that is folded would be written twice.
            "secure_delete = FAST",
        ):
            connection.execute(f"PRAGMA {pragma}")
        self._connections.append(connection)
        return connection


class _LogMover:
    """Moves the log into the file on a thread of its own, which begins with the first time that it is asked to."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._thread: threading.Thread | None = None
        self._is_wanted = threading.Event()
        self._is_closed = False
        self.is_moving = threading.Lock()
        #: there is little left to move: a good moment to begin the log anew
        self.has_moved = threading.Event()

    def wake(self) -> None:
        self._is_wanted.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="strobe-log-mover", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._is_closed = True
        if self._thread is not None:
            self._is_wanted.set()
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        connection = self._connect()
        while True:
            self._is_wanted.wait()
            self._is_wanted.clear()
            if self._is_closed:
                return
            try:
                with self.is_moving:
                    _move(connection)
            except sqlite3.OperationalError:
                # No room, or another process does it: the log is whole, and whoever writes tries again when it is long.
                continue
            self.has_moved.set()


def _move(connection: sqlite3.Connection) -> None:
    before = 0
    for _ in range(_MAX_ROUNDS):
        # What is written while it moves is not in its count: only a round that had little to do leaves little behind.
        _, _, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if moved - before < _FEW_PAGES:
            return
        before = moved


class _SqliteCursor:
    dialect = SQLITE

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        #: of what was written so far
        self.blob_bytes = 0

    def all(self, sql: str, *parameters: Any) -> list[Row]:
        return self._connection.execute(sql, parameters).fetchall()

    def stream(self, sql: str, *parameters: Any) -> Iterator[Row]:
        yield from self._connection.execute(sql, parameters)

    def one(self, sql: str, *parameters: Any) -> Row | None:
        found: Row | None = self._connection.execute(sql, parameters).fetchone()
        return found

    def run(self, sql: str, *parameters: Any) -> int:
        self.blob_bytes += _blob_bytes(parameters)
        return self._connection.execute(sql, parameters).rowcount

    def many(self, sql: str, rows: Iterable[Row]) -> None:
        rows = list(rows)
        self.blob_bytes += sum(map(_blob_bytes, rows))
        self._connection.executemany(sql, rows)


def _blob_bytes(parameters: Row) -> int:
    return sum(len(parameter) for parameter in parameters if parameter.__class__ is bytes)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "full" in text:
            raise StoreFull(f"{path}: {text}; make room on its disk, senders will send again") from error
        if "locked" in text or "busy" in text:
            raise StoreBusy(f"{path}: {text} for {_BUSY_TIMEOUT_S:g} s; another process is writing to it") from error
        raise StoreError(f"{path}: {text}") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: {error}; restore it from a backup if the file is damaged") from error
