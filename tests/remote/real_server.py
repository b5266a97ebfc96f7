"""The real server on a real store, behind a real socket, in threads of this process."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import Any

import uvicorn

from strobe.home import RunPath
from strobe.server import create_app
from strobe.server.services import ServerSettings, open_services
from strobe.store.store import Store, open_store


class RealServer:
    """A server with one user, `ann`, whose key is `key`."""

    def __init__(self, place: Path, settings: ServerSettings | None = None) -> None:
        self.store: Store = open_store(f"sqlite:///{place / 'strobe.db'}", place / "blobs")
        self.store.accounts.add("ann")
        self.key = self.store.accounts.keys.add("ann", scope="write")[1]
        self.settings = settings or ServerSettings(mode="server")
        self.port = 0
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        services = open_services(self.store, self.settings, logging.getLogger("test"))
        config = uvicorn.Config(create_app(services), host="127.0.0.1", port=self.port, log_level="error")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        until = time.monotonic() + 15
        while not self._server.started:
            assert time.monotonic() < until
            time.sleep(0.01)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]

    def stop(self) -> None:
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(10)

    def close(self) -> None:
        self.stop()
        self.store.close()

    def history(self, path: str) -> list[dict[str, Any]]:
        """Return the rows of a run, merged by step."""
        run = self.store.runs.find(RunPath.parse(path))
        rows, _ = self.store.history.page(run.id, limit=1_000_000)
        return rows

    def files(self, path: str) -> dict[str, bytes]:
        """Return the files of a run with what is in them."""
        files = self.store.files
        run = self.store.runs.find(RunPath.parse(path))
        return {file.path: b"".join(files.read(file, 0, file.size)) for file in files.list(run.id, limit=1000)}
