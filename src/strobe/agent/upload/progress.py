"""How far a run's upload is: the state that others read, what went wrong last, and when to write it down."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from strobe.remote.answer import Refused, Retry
from strobe.remote.link import Link
from strobe.remote.state import SyncState, read_state, write_state

#: the file is replaced this often at most, unless somebody waits for what is new in it
_SAVE_S = 1.0


class Progress:
    """The state of an upload to one place, begun from what an earlier one has left."""

    def __init__(self, run_dir: Path, link: Link, destination: str, clock: Callable[[], float]) -> None:
        known = read_state(run_dir)
        if known is None or (known.server, known.destination) != (link.target.base_url, destination):
            known = SyncState(server=link.target.base_url, destination=destination)
        known.error, known.is_refused, known.is_unreachable, known.is_complete = "", False, False, False
        self.state = known
        self._run_dir = run_dir
        self._link = link
        self._clock = clock
        self._is_changed = False
        self._saved_at = float("-inf")

    def touch(self) -> None:
        """Something has changed; it is written with the next `save` that is due."""
        self._is_changed = True

    def hurry(self) -> None:
        """Something has changed that somebody may wait for."""
        self._is_changed, self._saved_at = True, float("-inf")

    def note_success(self) -> None:
        """The server has taken something. What it did not take stays told."""
        state = self.state
        if state.is_refused or (state.error and not state.num_left_out):
            state.error, state.is_refused, state.is_unreachable = "", False, False
            self.touch()

    def note_failure(self, answer: Retry | Refused) -> None:
        state, is_refused = self.state, isinstance(answer, Refused)
        if (answer.why, is_refused) != (state.error, state.is_refused):
            state.error, state.is_refused = answer.why, is_refused
            state.is_unreachable = isinstance(answer, Retry) and not answer.status
            self.hurry()

    def settle(self, writers: set[str]) -> None:
        """Everything there is has arrived, and with it all of these writers, who have ended."""
        if writers - set(self.state.settled):
            self.state.settled = sorted(writers | set(self.state.settled))
            self.hurry()
        if self._is_changed:
            self.state.synced_ns = time.time_ns()

    def save(self) -> None:
        """Write it down if it has changed and the time has come."""
        if self._is_changed and self._clock() - self._saved_at >= _SAVE_S:
            self.state.updated_ns = time.time_ns()
            self.state.num_moved = self._link.num_sent
            try:
                write_state(self._run_dir, self.state)
            except OSError:
                return  # a full disk, or a run that was deleted: tried again with the next step
            self._is_changed, self._saved_at = False, self._clock()

    def save_now(self) -> None:
        """Write it down. Raises OSError."""
        write_state(self._run_dir, self.state)
