"""A run's summary as its own process sees it: read from the journal, from where the last look ended.

What the script has set it may read again, though the disk has not taken it yet; and no fault of the disk gets from
here into the script. Callable from any thread and in a forked child.
"""

from __future__ import annotations

import os
import threading
from time import time_ns
from typing import TYPE_CHECKING, Any

from strobe.journal.event import Summary

if TYPE_CHECKING:
    from strobe.sdk.recorder import Recorder


class OwnSummary:
    """Reads and records the summary of the run that `recorder` writes."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        #: what was set while the disk took nothing
        self._unrecorded: dict[str, Any] = {}
        self._begin_anew()

    def _begin_anew(self) -> None:
        from strobe.journal.replay import Replay

        self._pid = os.getpid()
        # Reentrant, because a signal handler may look, too.
        self._lock = threading.RLock()
        self._replay = Replay(self._recorder.run_dir)
        self._latest: dict[str, Any] = {}

    def read(self) -> dict[str, Any]:
        """Return what the summary holds now."""
        if self._pid != os.getpid():
            # The child of a fork: the thread that held the lock, or was halfway through a look, is not here.
            self._begin_anew()
        with self._lock:
            try:
                self._replay.refresh()
                self._latest = self._replay.summary
            except OSError:
                pass  # the directory cannot be read just now: what was read before still holds
            return {**self._unrecorded, **self._latest}

    def record(self, changes: dict[str, Any], removed: list[str]) -> None:
        """Record keys that were set or removed."""
        rejected = self._recorder.writer.rejected
        self._recorder.event(Summary(time_ns=time_ns(), changes=changes, removed=removed))
        if self._recorder.writer.rejected > rejected:
            self._unrecorded.update(changes)
        for key in removed:
            self._unrecorded.pop(key, None)
