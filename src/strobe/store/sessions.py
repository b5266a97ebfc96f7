"""Browser sessions that were ended: the few that are not good although their signature is.

Sessions themselves are kept nowhere. A signed cookie says which key opened it and until when it is good; only one that
somebody signed out of has to be remembered, and only until then.
"""

from __future__ import annotations

from collections.abc import Callable

from strobe.store.database import Database


class Sessions:
    """What is remembered of sessions."""

    def __init__(self, database: Database, clock: Callable[[], int]) -> None:
        self._database = database
        self._clock = clock

    def end(self, session_id: str, *, expires_ns: int) -> None:
        """Refuse a session from now on; `expires_ns` is when it is refused anyway, or later."""
        sql = "INSERT INTO ended_session (id, expires_ns) VALUES (?, ?) ON CONFLICT (id) DO NOTHING"
        self._database.write(lambda cursor: cursor.run(sql, session_id, expires_ns))

    def has_ended(self, session_id: str) -> bool:
        """Return whether somebody signed out of it."""
        sql = "SELECT 1 FROM ended_session WHERE id = ?"
        return self._database.read(lambda cursor: cursor.one(sql, session_id)) is not None

    def forget(self) -> int:
        """Forget those that would have ended by now; return how many."""
        sql = "DELETE FROM ended_session WHERE expires_ns < ?"
        return self._database.write(lambda cursor: cursor.run(sql, self._clock()))
