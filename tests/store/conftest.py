"""A fresh, migrated store on each database: SQLite in a file, and a real PostgreSQL that is started once."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from strobe.store.database import Database
from strobe.store.postgres import PostgresDatabase
from strobe.store.schema import migrate
from strobe.store.sqlite import SqliteDatabase
from tests.store.cluster import postgres_address


@pytest.fixture(params=["sqlite", "postgres"])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database without tables."""
    if request.param == "sqlite":
        database: Database = SqliteDatabase(tmp_path / "store" / "strobe.db")
        yield database
        database.close()
        return
    address = postgres_address()
    schema = f"t{uuid.uuid4().hex}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    database = PostgresDatabase(f"{address}&options=-csearch_path%3D{schema}", max_connections=4)
    yield database
    database.close()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {schema} CASCADE".encode())


@pytest.fixture
def database(empty_database: Database) -> Database:
    """A database with the tables of the newest version."""
    migrate(empty_database)
    return empty_database
