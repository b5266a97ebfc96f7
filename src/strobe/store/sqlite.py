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
from typing import Any

from strobe.errors import StoreBusy, StoreError, StoreFull
from strobe.store.database import SQLITE, Cursor, Row, T

_BUSY_TIMEOUT_S = 30.0
_MAX_READERS = 8
_PAGE_BYTES = 4096  # SQLite's default
_CACHE_KB = 16_384
#: the log is moved into the file when it has grown to this; that waits for the disk
_LOG_BYTES = 64 << 20
#: moving is not enough to begin the log anew while somebody reads from it, and with many readers somebody always does;
#: when it has grown to this, writing waits a moment for those who read, so that it does not fill the disk
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
            try:
                result = change(_SqliteCursor(connection))
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk has rolled back by itself
                    connection.execute("ROLLBACK")
                raise
            size = self._log_bytes()
            if size <= _MAX_LOG_BYTES:
                self._log_limit = _MAX_LOG_BYTES
            elif size > self._log_limit and not self._begin_log_anew():
                # Whoever reads for minutes, as a backup does, is not waited for again before it has doubled.
                self._log_limit = 2 * size
            return result

    def _log_bytes(self) -> int:
        try:
            return self._log_path.stat().st_size
        except FileNotFoundError:
            return 0

    def _begin_log_anew(self) -> bool:
        """Move all of the log into the file and empty it; False if somebody goes on reading from it."""
        try:
            self._writer.execute(f"PRAGMA busy_timeout = {int(_LOG_WAIT_S * 1000)}")
            found = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:  # no room to do it; what was committed is safe where it is
            return False
        finally:
            self._writer.execute(f"PRAGMA busy_timeout = {int(_BUSY_TIMEOUT_S * 1000)}")
        return bool(found[0] == 0)

    def close(self) -> None:
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
            f"wal_autocheckpoint = {_LOG_BYTES // _PAGE_BYTES}",
            f"journal_size_limit = {_MAX_LOG_BYTES}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        self._connections.append(connection)
        return connection


class _SqliteCursor:
    dialect = SQLITE

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def all(self, sql: str, *parameters: Any) -> list[Row]:
        return self._connection.execute(sql, parameters).fetchall()

    def stream(self, sql: str, *parameters: Any) -> Iterator[Row]:
        yield from self._connection.execute(sql, parameters)

    def one(self, sql: str, *parameters: Any) -> Row | None:
        found: Row | None = self._connection.execute(sql, parameters).fetchone()
        return found

    def run(self, sql: str, *parameters: Any) -> int:
        return self._connection.execute(sql, parameters).rowcount

    def many(self, sql: str, rows: Iterable[Row]) -> None:
        self._connection.executemany(sql, rows)


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
