"""`strobe ui` is a server too: a home read through it gives what the home itself gives; edits end up in the home."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from strobe.api import Api
from strobe.home import Home
from strobe.server import create_app
from strobe.server.local.home_tail import HomeTail
from strobe.server.local.store import LocalStore
from strobe.server.services import ServerSettings, open_services

from .conftest import Twins
from .test_parity import equal


class LocalServer:
    """What `strobe ui` runs, in threads of this process; `poll` does what its chore does."""

    def __init__(self, home: Home, place: Path) -> None:
        self.store = LocalStore(home, place / "index.db")
        self._tail = HomeTail(home, self.store, time.time_ns, lambda text: None)
        services = open_services(self.store, ServerSettings(mode="local"), logging.getLogger("test"))
        self._server = uvicorn.Server(uvicorn.Config(create_app(services), port=0, log_level="error"))
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        deadline = time.monotonic() + 15
        while not self._server.started:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"
        self.poll()

    def poll(self) -> None:
        self._tail.poll()
        self.store.settler.settle()

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self.store.close()


@pytest.fixture
def served(twins: Twins, tmp_path: Path) -> Iterator[LocalServer]:
    server = LocalServer(twins.home, tmp_path)
    yield server
    server.close()


def test_a_home_and_its_server_agree(twins: Twins, served: LocalServer, tmp_path: Path) -> None:
    local, remote = twins.local, Api(served.url)
    assert remote.default_entity == "local"
    assert [run.id for run in remote.runs()] == [run.id for run in local.runs()]
    here, there = local.run("p/rich"), remote.run("p/rich")
    assert there.path == here.path
    for name in (
        "name",
        "state",
        "config",
        "summary",
        "tags",
        "notes",
        "lastHistoryStep",
        "metadata",
        "system_metrics",
    ):
        assert equal(getattr(here, name), getattr(there, name)), name
    assert equal(here.history(pandas=False), there.history(pandas=False))
    assert there.console_logs() == here.console_logs()
    assert [file.name for file in there.files()] == [file.name for file in here.files()]
    there.file("sub/data.bin").download(tmp_path).close()
    assert (tmp_path / "sub" / "data.bin").read_bytes() == here.file("sub/data.bin").path.read_bytes()


def test_an_edit_through_the_server_is_an_edit_of_the_home(fresh: Twins, tmp_path: Path) -> None:
    from .test_changes import record

    record(fresh)
    server = LocalServer(fresh.home, tmp_path)
    try:
        run = Api(server.url).run("p/r1")
        run.notes = "from afar"
        run.update()
        assert fresh.local.run("r1").notes == "from afar"
        server.poll()
        assert Api(server.url).run("p/r1").notes == "from afar"
        run.delete()
        assert list(fresh.local.runs()) == []
        run.restore()
        assert fresh.local.run("r1").notes == "from afar"
    finally:
        server.close()
