"""The size of a database, on both."""

from __future__ import annotations

import secrets

from strobe.store.accounts import Accounts
from strobe.store.database import Database
from strobe.store.size import database_bytes


def test_a_database_grows(database: Database) -> None:
    before = database_bytes(database)
    accounts = Accounts(database)
    for number in range(200):
        accounts.add(f"user {number}", email=secrets.token_hex(1000))
    assert database_bytes(database) >= before + 200_000
