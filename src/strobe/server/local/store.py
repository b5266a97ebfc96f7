"""The store of `strobe ui`: an index of a home's journals, and the home's own files, artifacts, edits and trash."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from strobe.home import Home
from strobe.server.local.home_artifacts import HomeArtifacts
from strobe.server.local.home_parts import HomeEdits, HomeFiles, HomeRuns
from strobe.store.blobs import open_blobs
from strobe.store.schema import migrate
from strobe.store.sqlite import SqliteDatabase
from strobe.store.store import Store


class LocalStore(Store):
    """All parts over the index of one home."""

    runs: HomeRuns

    def __init__(self, home: Home, database_path: Path, clock: Callable[[], int] = time.time_ns) -> None:
        database = SqliteDatabase(database_path)
        migrate(database)
        super().__init__(database, open_blobs(database_path.parent / "blobs"), clock)
        self.home = home
        self.runs = HomeRuns(database, home, self.ingest)
        self.files = HomeFiles(self.contents, home)
        self.edits = edits = HomeEdits(home)
        self.artifacts = HomeArtifacts(self.contents, home, edits)
