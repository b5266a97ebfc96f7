"""PostgreSQL as a `Database`: for more than one machine, with any number of server processes in front of it.

A transaction that the server broke off because of others (a deadlock, a serialization failure) is run again. A lost
connection is not: nobody knows whether the commit arrived. It becomes `StoreBusy`, the sender sends again, and taking
in a batch twice changes nothing.
"""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors as pg
from psycopg_pool import ConnectionPool, PoolTimeout

from strobe.errors import StoreBusy, StoreError, StoreFull
from strobe.store.database import NUL_SYMBOL, POSTGRES, Cursor, Row, T

_MAX_CONNECTIONS = 16
_CONNECT_TIMEOUT_S = 10.0
_TRIES = 5
_BROKEN_OFF = (pg.DeadlockDetected, pg.SerializationFailure)


class PostgresDatabase:
    """A database of a PostgreSQL server, by its address (`postgresql://user:password@host/name`)."""

    dialect = POSTGRES

    def __init__(self, address: str, *, max_connections: int = _MAX_CONNECTIONS) -> None:
        self._pool: ConnectionPool[psycopg.Connection[Row]] = ConnectionPool(
            address,
            min_size=1,
            max_size=max_connections,
            timeout=_CONNECT_TIMEOUT_S,
            kwargs={"autocommit": True},
            open=False,
            name="strobe-store",
        )
        with _translated():
            try:
                self._pool.open(wait=True, timeout=_CONNECT_TIMEOUT_S)
            except PoolTimeout:
                psycopg.connect(address, connect_timeout=3).close()  # raises the reason, which the pool only logs
                raise

    def read(self, ask: Callable[[Cursor], T]) -> T:
        with _translated(), self._pool.connection() as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            try:
                with connection.transaction(), connection.cursor(binary=True) as cursor:
                    return ask(_PostgresCursor(cursor))
            finally:
                if not connection.closed:
                    connection.isolation_level = None

    def write(self, change: Callable[[Cursor], T]) -> T:
        for number in range(_TRIES):
            with _translated(), self._pool.connection() as connection:
                try:
                    with connection.transaction(), connection.cursor(binary=True) as cursor:
                        return change(_PostgresCursor(cursor))
                except _BROKEN_OFF:
                    if number == _TRIES - 1:
                        raise
            time.sleep(random.random() * 0.02 * 2**number)
        raise AssertionError("the last try returns or raises")

    def close(self) -> None:
        self._pool.close()


class _PostgresCursor:
    dialect = POSTGRES

    def __init__(self, cursor: psycopg.Cursor[Row]) -> None:
        self._cursor = cursor

    def all(self, sql: str, *parameters: Any) -> list[Row]:
        return self._cursor.execute(_spelled(sql), _storable(parameters)).fetchall()

    def stream(self, sql: str, *parameters: Any) -> Iterator[Row]:
        yield from self._cursor.stream(_spelled(sql), _storable(parameters), binary=True)

    def one(self, sql: str, *parameters: Any) -> Row | None:
        return self._cursor.execute(_spelled(sql), _storable(parameters)).fetchone()

    def run(self, sql: str, *parameters: Any) -> int:
        return self._cursor.execute(_spelled(sql), _storable(parameters)).rowcount

    def many(self, sql: str, rows: Iterable[Row]) -> None:
        self._cursor.executemany(_spelled(sql), map(_storable, rows))


def _storable(parameters: Sequence[Any]) -> Sequence[Any]:
    """Return the parameters; in text the NUL, which PostgreSQL cannot hold, is its symbol."""
    if any(isinstance(item, str) and "\0" in item for item in parameters):
        return [item.replace("\0", NUL_SYMBOL) if isinstance(item, str) else item for item in parameters]
    return parameters


@functools.lru_cache(maxsize=4096)
def _spelled(sql: str) -> bytes:
    return sql.replace("%", "%%").replace("?", "%s").encode()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (pg.DiskFull, pg.OutOfMemory) as error:
        raise StoreFull(f"PostgreSQL: {_line(error)}; make room, senders will send again") from error
    except PoolTimeout as error:
        raise StoreBusy(f"no connection to PostgreSQL within {_CONNECT_TIMEOUT_S:g} s: {_line(error)}") from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        raise StoreBusy(f"PostgreSQL: {_line(error)}; is it up, and is the address right?") from error
    except psycopg.Error as error:
        raise StoreError(f"PostgreSQL: {_line(error)}") from error


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
