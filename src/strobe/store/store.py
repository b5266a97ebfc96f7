"""The store: everything that a server keeps, put together from a database and a place for blobs.

Parts are small classes over the same two seams, `Database` and `Blobs`; each seam has an implementation for one machine
and one for many, so nothing above them is written twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from strobe.store.accounts import Accounts
from strobe.store.address import open_database
from strobe.store.alerts import Alerts
from strobe.store.artifacts import Artifacts
from strobe.store.blobs import Blobs, open_blobs
from strobe.store.charts import Charts
from strobe.store.console import Console
from strobe.store.contents import Contents
from strobe.store.database import Database
from strobe.store.edits import Editor, Edits
from strobe.store.files import Files
from strobe.store.heap import keep_freed
from strobe.store.history import Histories
from strobe.store.ingest import Ingest
from strobe.store.objects import Objects
from strobe.store.projects import Projects
from strobe.store.quotas import Quotas
from strobe.store.runs import Runs
from strobe.store.samplers import Samplers
from strobe.store.settle import Settler
from strobe.store.uploads import Uploads
from strobe.store.values import Values
from strobe.store.views import Views


class Store:
    """All parts over one database and one place for blobs."""

    def __init__(self, database: Database, blobs: Blobs, clock: Callable[[], int] = time.time_ns) -> None:
        self.database = database
        self.contents = Contents(database, blobs, clock)
        self.accounts = Accounts(database, clock)
        self.projects = Projects(database)
        self.runs = Runs(database)
        self.series = Charts(database)
        self.samplers = Samplers(database)
        self.history = Histories(database)
        self.objects = Objects(database)
        self.console = Console(database)
        self.files = Files(self.contents)
        self.artifacts = Artifacts(self.contents)
        self.uploads = Uploads(self.contents, {"run": self.files, "draft": self.artifacts.drafts})
        self.values = Values(database)
        self.settler = Settler(database, self.values)
        self.alerts = Alerts(database, clock)
        self.views = Views(database)
        self.quotas = Quotas(database)
        self.ingest = Ingest(database, alerts=self.alerts, quotas=self.quotas)
        self.edits: Editor = Edits(database, self.ingest)

    def close(self) -> None:
        """Let go of the database; nothing is lost."""
        self.database.close()


def open_store(address: str, blobs: str | Path) -> Store:
    """Return the store at `sqlite:///path` or `postgresql://…`, with blobs in a directory or at `s3://bucket/prefix`."""
    keep_freed()
    database = open_database(address)
    try:
        return Store(database, open_blobs(blobs))
    except BaseException:
        database.close()
        raise
