"""`strobe ui` is a server too: a home read through it gives what the home itself gives; edits end up in the home."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

import strobe
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


def test_the_artifacts_of_a_home_and_of_its_server_agree(twins: Twins, served: LocalServer, tmp_path: Path) -> None:
    apis = twins.local, Api(served.url)
    for run, role in (("p/rich", "logged_artifacts"), ("q/other", "used_artifacts"), ("p/plain", "logged_artifacts")):
        here, there = (getattr(api.run(run), role)() for api in apis)
        assert [artifact.qualified_name for artifact in there] == [artifact.qualified_name for artifact in here]
        for twin, artifact in zip(here, there, strict=True):
            for name in (
                "id", "type", "digest", "size", "file_count", "aliases", "tags", "metadata", "description", "state",
                "ttl", "is_link", "history_step", "created_at", "updated_at", "digest_algorithm",
            ):  # fmt: skip
                assert getattr(twin, name) == getattr(artifact, name), name
            assert twin.manifest.encode() == artifact.manifest.encode()
            assert twin.logged_by() == artifact.logged_by()
            assert twin.used_by() == artifact.used_by()
            artifact.verify(artifact.download(tmp_path / artifact.name))
    assert [api.artifact_types("p") for api in apis] == [["dataset"], ["dataset"]]


def test_an_edit_of_an_artifact_through_the_server_is_one_of_the_home(fresh: Twins, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    with strobe.init(project="p", id="r", dir=fresh.home.path, mode="offline", settings={"agent": False}) as run:
        artifact = strobe.Artifact("data", "dataset")
        artifact.add_file(str(tmp_path / "a.txt"))
        run.log_artifact(artifact, aliases=["old"]).wait()
    server = LocalServer(fresh.home, tmp_path)
    try:
        remote = Api(server.url).artifact("p/data:latest")
        remote.description, remote.tags, remote.aliases = "told", ["good"], ["latest", "new"]
        remote.save()
        local = fresh.local.artifact("p/data:new")
        assert (local.description, local.tags, local.aliases) == ("told", ["good"], ["latest", "new"])
        remote.delete(delete_aliases=True)
        assert (remote.state, local.state) == ("DELETED", "DELETED")
    finally:
        server.close()


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
