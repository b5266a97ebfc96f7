"""The document of a run (`strobe.store.state`) in its row, and the columns that follow from it."""

from __future__ import annotations

import msgspec

from strobe.store.database import Cursor
from strobe.store.state import Facts, decode_facts, encode_facts


def read_facts(cursor: Cursor, run_id: int) -> Facts:
    """Return the document of a run; its row must be locked by whoever is to change it."""
    row = cursor.one("SELECT facts FROM run WHERE id = ?", run_id)
    assert row is not None
    return decode_facts(row[0])


def write_facts(cursor: Cursor, run_id: int, facts: Facts, state: str) -> None:
    """Write the document back, the state, and the columns that follow from the document."""
    attempts = facts.attempts
    started_ns = min((attempt.started_ns for attempt in attempts if attempt.started_ns), default=0)
    cursor.run(
        "UPDATE run SET facts = ?, state = ?, started_ns = ?, ended_ns = ?, rewinds = ?, parent = ?, fork_step = ?,"
        " created_ns = CASE WHEN ? > 0 THEN ? ELSE created_ns END WHERE id = ?",
        encode_facts(facts),
        state,
        started_ns,
        attempts[-1].ended_ns if attempts else None,
        msgspec.json.encode(facts.rewinds).decode(),
        facts.parent,
        facts.fork_step,
        started_ns,
        started_ns,
        run_id,
    )
