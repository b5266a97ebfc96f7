"""Addresses of databases: `sqlite:///path/strobe.db` (or a plain path) and `postgresql://user:password@host/name`."""

from __future__ import annotations

from pathlib import Path

from strobe.errors import MissingExtra, UsageError
from strobe.store.database import Database
from strobe.store.schema import migrate

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


def open_database(address: str) -> Database:
    """Return the database at an address, with the tables of this version; a SQLite file is made if need be."""
    database = _connect(address)
    try:
        migrate(database)
    except BaseException:
        database.close()
        raise
    return database


def sqlite_path(address: str) -> Path | None:
    """Return the file that an address names, None if it names a PostgreSQL database."""
    if address.startswith(_POSTGRES):
        return None
    if address.startswith(_SQLITE):
        address = address[len(_SQLITE) :]
    elif "://" in address:
        scheme = address.partition("://")[0]
        raise UsageError(
            f"store is of kind {scheme!r}; it can be sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME"
        )
    if not address:
        raise UsageError("store names no file; write sqlite:///relative/strobe.db or sqlite:////absolute/strobe.db")
    return Path(address).expanduser().absolute()


def _connect(address: str) -> Database:
    path = sqlite_path(address)
    if path is not None:
        from strobe.store.sqlite import SqliteDatabase

        return SqliteDatabase(path)
    try:
        from strobe.store.postgres import PostgresDatabase
    except ImportError as error:
        raise MissingExtra(f"PostgreSQL needs {error.name}; pip install 'strobe[cluster]'") from error
    return PostgresDatabase(address)
