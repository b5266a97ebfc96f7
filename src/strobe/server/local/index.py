"""Where the index of a home lies, and who may write to it: one process at a time, found by its lock.

On a local disk, because SQLite's write-ahead log needs one: in the home, or, if that is on the network, in the user's
cache directory under a name made from the home's path.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from strobe.agent.lock import Lock
from strobe.home import Home
from strobe.journal.append import is_network


class IndexPlace:
    """The directory of a home's index."""

    def __init__(self, home: Home) -> None:
        self.path = _directory(home)
        self.database = self.path / "ui.db"
        self._lock = Lock(str(self.path / "lease"))
        self._address = self.path / "address"

    def take(self) -> bool:
        """Become the one who writes to the index; False if another process is."""
        self.path.mkdir(parents=True, exist_ok=True)
        return self._lock.acquire()

    def note_address(self, url: str) -> None:
        """Say where the runs are served, for whoever comes next."""
        self._address.write_text(url)

    def read_address(self) -> str | None:
        """Return where the process that has the index serves it."""
        try:
            return self._address.read_text() or None
        except OSError:
            return None

    def release(self) -> None:
        """Let another process have the index."""
        self._address.unlink(missing_ok=True)
        self._lock.release()


def _directory(home: Home) -> Path:
    home.path.mkdir(parents=True, exist_ok=True)
    if not is_network(home.path):
        return home.path / "index"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = hashlib.sha256(str(home.path.absolute()).encode(errors="surrogateescape")).hexdigest()[:16]
    return cache / "strobe" / f"index-{name}"
