"""What an averager did so far, in numbers: for runs, and for whoever asks."""

from __future__ import annotations

import threading

from strobe.swarm.averaging.round import Round


class Tally:
    """Counts rounds. For threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rounds = 0
        self._groups_missed = 0
        self._failed_members = 0
        self._averaged_bytes = 0
        self._last: Round | None = None

    def missed(self) -> None:
        """Count a step that found no group."""
        with self._lock:
            self._groups_missed += 1

    def averaged(self, round_: Round, num_bytes: int) -> None:
        """Count a round, of tensors of so many bytes."""
        with self._lock:
            self._rounds += 1
            self._failed_members += len(round_.failed)
            self._averaged_bytes += num_bytes
            self._last = round_

    def read(self) -> dict[str, float]:
        """Return everything, by names that a run can log; of the last round, what it was like."""
        with self._lock:
            figures: dict[str, float] = {
                "rounds": self._rounds,
                "groups_missed": self._groups_missed,
                "failed_members": self._failed_members,
                "averaged_bytes": self._averaged_bytes,
            }
            if self._last is not None:
                figures["group_size"] = self._last.group_size
                figures["round_s"] = self._last.seconds
                figures["matchmaking_s"] = self._last.matchmaking_seconds
            return figures
