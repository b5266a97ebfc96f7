"""Who sampled the system of a run: each sampler is a lane of its series, on a host, for one rank or for none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from strobe.store.database import Cursor, Database, marks


@dataclass(frozen=True, slots=True)
class Sampler:
    """A writer that sampled the system."""

    lane: str
    host: str
    #: of the process that it belongs to; None if it sampled for all of a host
    rank: int | None
    attempt: int


class Samplers:
    """The samplers of a store's runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, run_id: int, lanes: Sequence[str]) -> list[Sampler]:
        """Return those of some lanes, in the order of attempts, ranks and hosts."""

        def ask(cursor: Cursor) -> list[Sampler]:
            rows = cursor.all(
                f"SELECT name, host, rank, attempt FROM writer WHERE run_id = ? AND name IN ({marks(len(lanes))})",
                run_id,
                *lanes,
            )
            found = [Sampler(*row) for row in rows]
            return sorted(found, key=lambda one: (one.attempt, one.rank is None, one.rank or 0, one.host, one.lane))

        return self._database.read(ask) if lanes else []
