"""What the store needs of a database: transactions over plain SQL, the same statements for SQLite and PostgreSQL.

Statements use `?` for parameters and only what both understand; the few differences are in `Dialect`. A transaction is
a function: it may be run again if the database had to break it off, so it must not keep anything outside of itself.
Everything here blocks; the server calls it from worker threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

Row = tuple[Any, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How two databases spell the same thing."""

    name: str
    #: types in CREATE TABLE
    types: dict[str, str]
    #: appended to a SELECT of rows that this transaction is about to change
    for_update: str
    #: an operator with a regular expression on its right
    regexp: str

    def spell(self, statements: str) -> str:
        """Replace `{identity}`, `{bytes}` and the like in table definitions."""
        return statements.format(**self.types)


SQLITE = Dialect(
    name="sqlite",
    types={"identity": "INTEGER PRIMARY KEY AUTOINCREMENT", "bytes": "BLOB", "text_c": "TEXT COLLATE BINARY"},
    for_update="",
    regexp="REGEXP",
)
POSTGRES = Dialect(
    name="postgres",
    types={
        "identity": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
        "bytes": "BYTEA",
        # Text that is sorted and compared byte by byte, as SQLite does, whatever the cluster's locale.
        "text_c": 'TEXT COLLATE "C"',
    },
    for_update=" FOR UPDATE",
    regexp="~",
)


class Cursor(Protocol):
    """Statements inside a transaction."""

    dialect: Dialect

    def all(self, sql: str, *parameters: Any) -> list[Row]:
        """Return all rows."""

    def one(self, sql: str, *parameters: Any) -> Row | None:
        """Return the first row, or None."""

    def run(self, sql: str, *parameters: Any) -> int:
        """Execute, and return how many rows were changed."""

    def many(self, sql: str, rows: Iterable[Row]) -> None:
        """Execute once for each row of parameters."""


class Database(Protocol):
    """Where rows are kept."""

    dialect: Dialect

    def read(self, ask: Callable[[Cursor], T]) -> T:
        """Return what `ask` finds in one unchanging view of the data."""

    def write(self, change: Callable[[Cursor], T]) -> T:
        """Run `change` as a transaction: all of it is kept, or, if it raises, nothing."""

    def close(self) -> None:
        """Let go of connections; nothing is lost."""


def marks(count: int) -> str:
    """Return `?, ?, …` for an IN (…)."""
    return ", ".join("?" * count)


def in_parts(items: Sequence[T], size: int = 2000) -> Iterator[Sequence[T]]:
    """Yield the items some at a time: how many things one statement names is bounded."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
