"""Small files go many at a time, each arrives whatever becomes of the others, and a refusal that passes loses none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import strobe
from strobe.agent.upload.cargos import cargo_of
from strobe.agent.upload.course import Course
from strobe.agent.upload.post import Post
from strobe.home import Home, RunPath
from strobe.remote.answer import Answer, Refused
from strobe.remote.link import Link
from strobe.remote.state import read_state
from strobe.remote.target import Target
from tests.remote.real_server import RealServer

from .journal import drive


@pytest.fixture
def real(tmp_path: Path) -> Iterator[RealServer]:
    place = tmp_path / "server"
    place.mkdir()
    server = RealServer(place)
    yield server
    server.close()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> strobe.Run:
    monkeypatch.chdir(tmp_path)
    run = strobe.init(project="p", id="r1")
    run.log({"x": 1})
    Path(run.dir, "media").mkdir(parents=True)
    return run


class Watched:
    """A course whose requests for things are noted, and may be answered by somebody else."""

    def __init__(self, real: RealServer, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
        run_dir = home.run_dir(RunPath("local", "p", "r1"))
        self.link = Link(Target(base_url=real.url, api_key=real.key))
        self.course = Course(run_dir, Post(self.link), cargo=cargo_of(home, run_dir, self.link))
        self.sizes: list[int] = []
        self.max_bytes = 1 << 30
        self.refusals: list[Refused] = []
        self._request = self.link.request
        monkeypatch.setattr(self.link, "request", self._ask)

    def _ask(self, method: str, path: str, body: Any = None, *rest: Any) -> Answer:
        if path.endswith("/files"):
            self.sizes.append(len(body))
            if len(body) > self.max_bytes:
                return Refused("HTTP 413: by a proxy", 413)
        if path.endswith(("/files", "/uploads")) and self.refusals:
            return self.refusals.pop()
        return self._request(method, path, body, *rest)


def test_nine_hundred_files_are_a_few_requests(
    real: RealServer, home: Home, run: strobe.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = {f"media/{number}.bin": b"%d" % number * 100 for number in range(900)}
    for path, content in expected.items():
        Path(run.dir, path).write_bytes(content)
    Path(run.dir, "big.bin").write_bytes(b"big" * 200_000)
    run.finish()
    watched = Watched(real, home, monkeypatch)
    drive(watched.course)
    assert real.files("ann/p/r1") == {**expected, "big.bin": b"big" * 200_000}
    assert len(watched.sizes) <= 4
    assert watched.course.state.num_files == 901
    drive(Watched(real, home, monkeypatch).course)
    assert real.files("ann/p/r1").keys() == {*expected, "big.bin"}


def test_a_proxy_that_takes_less_gets_less(
    real: RealServer, home: Home, run: strobe.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        Path(run.dir, f"{number}.bin").write_bytes(bytes([number]) * 50_000)
    Path(run.dir, "huge.bin").write_bytes(b"x" * 250_000)  # small to us, too large for the proxy
    run.finish()
    watched = Watched(real, home, monkeypatch)
    watched.max_bytes = 200_000
    drive(watched.course)
    assert real.files("ann/p/r1") == {f"{number}.bin": bytes([number]) * 50_000 for number in range(40)}
    state = read_state(watched.course.run_dir.path)
    assert state is not None
    assert (state.num_left_out, state.is_complete, "huge.bin" in state.error) == (1, True, True)


@pytest.mark.parametrize("size", [10, 300_000])
def test_a_refusal_that_passes_loses_no_file(
    real: RealServer, home: Home, run: strobe.Run, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr("strobe.agent.upload.course.REFUSED_S", 0.0)
    for name in ("a", "b"):
        Path(run.dir, "media", name).write_bytes(name.encode() * size)
    run.finish()
    watched = Watched(real, home, monkeypatch)
    watched.refusals = [Refused("HTTP 403: not yours", 403)]
    # As if the directory had not changed for long: a second scan does not look into it again.
    monkeypatch.setattr("strobe.agent.upload.tree.time.time_ns", lambda: 0)
    drive(watched.course)
    assert real.files("ann/p/r1") == {f"media/{name}": name.encode() * size for name in ("a", "b")}


def test_a_file_that_vanishes_is_no_trouble(
    real: RealServer, home: Home, run: strobe.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        Path(run.dir, name).write_text(name)
    run.finish()
    watched = Watched(real, home, monkeypatch)
    watched.course.advance()
    found = watched.course._cargo[0]
    found.scan(is_final=True)
    Path(run.dir, "a").unlink()
    drive(watched.course)
    assert real.files("ann/p/r1") == {"b": b"b"}
    assert watched.course.state.num_left_out == 0


def test_an_artifact_of_many_small_files(
    real: RealServer, home: Home, run: strobe.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = strobe.Artifact("data", type="dataset")
    for number in range(600):
        with artifact.new_file(f"{number}.txt") as stream:
            stream.write(f"number {number}")
    run.log_artifact(artifact).wait()
    run.finish()
    watched = Watched(real, home, monkeypatch)
    drive(watched.course)
    project = real.store.projects.get("ann", "p")
    assert project is not None
    assert real.store.artifacts.versions.get(project.id, "data", "latest").num_files == 600
    assert len(watched.sizes) == 2
