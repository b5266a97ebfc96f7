"""The same runs twice: in a home, as the SDK recorded them, and on the real server, as the agent uploaded them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import strobe
from strobe.agent.upload.cargos import cargo_of
from strobe.agent.upload.course import Course
from strobe.agent.upload.post import Post
from strobe.api import Api
from strobe.home import Home, RunDir, RunPath
from strobe.journal import Header, Writer, event
from strobe.remote.link import Link
from strobe.remote.target import Target
from tests.agent.upload.journal import drive
from tests.remote.real_server import RealServer

RUNS = ("plain", "rich", "twice", "child", "other")


@dataclass
class Twins:
    """A home and a server that hold the same runs."""

    home: Home
    real: RealServer

    @property
    def local(self) -> Api:
        return Api(self.home)

    @property
    def remote(self) -> Api:
        return Api(self.real.url, api_key=self.real.key)

    def upload(self, run_dir: RunDir) -> None:
        """Send a run as the agent does."""
        link = Link(Target(base_url=self.real.url, api_key=self.real.key))
        drive(Course(run_dir, Post(link), cargo=cargo_of(self.home, run_dir, link)))
        self.real.store.settler.settle()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is fetched or looked up lies here, never with the person who runs the tests."""
    monkeypatch.setenv("STROBE_HOME", str(tmp_path / "reader"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Twins]:
    """An empty home and an empty server."""
    yield from _twins(tmp_path)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    """Runs with everything in them. Tests that share them change nothing."""
    place = tmp_path_factory.mktemp("twins")
    found = _twins(place)
    both = next(found)
    with pytest.MonkeyPatch.context() as patch:
        for name, item in (("HOME", both.home.path), ("AGENT", "off"), ("SILENT", "true"), ("MODE", "offline")):
            patch.setenv(f"STROBE_{name}", str(item))
        patch.setenv("XDG_CONFIG_HOME", str(place / "config"))
        (place / "cwd").mkdir()
        patch.chdir(place / "cwd")
        record_all(both.home)
    for run_id in RUNS:
        both.upload(both.home.run_dir(RunPath("local", project_of(run_id), run_id)))
    yield both
    next(found, None)


def _twins(place: Path) -> Iterator[Twins]:
    (place / "server").mkdir()
    real = RealServer(place / "server")
    yield Twins(Home(place / "home"), real)
    real.close()


def project_of(run_id: str) -> str:
    return "q" if run_id == "other" else "p"


def record_all(home: Home) -> None:
    """Record what a run can have, by the SDK where that is possible."""
    with strobe.init(project="p", id="plain", name="the plain one", tags=["a", "b"], config={"lr": 0.1}) as run:
        for step in range(25):
            run.log({"loss": 1 / (step + 1), "acc": step / 25})
    _rich()
    first = strobe.init(project="p", id="twice", config={"lr": 0.3})
    for step in range(10):
        first.log({"loss": float(step), "only": step})
    first.finish(exit_code=3)
    second = strobe.init(project="p", id="twice", resume="must")
    for step in range(6, 12):
        second.log({"loss": 100.0 + step}, step=step)
    second.finish()
    with strobe.init(project="p", id="child", fork_from="twice?_step=4") as child:
        child.log({"loss": -1.0}, step=5)
    with strobe.init(project="q", id="other", name="elsewhere", config={"lr": 0.2, "kind": "b"}) as run:
        run.log({"loss": 0.25})
        run.use_artifact("p/dataset:latest")
    _samples(home.run_dir(RunPath("local", "p", "rich")))


def _rich() -> None:
    config: dict[str, Any] = {"lr": 0.2, "deep": {"a": [1, 2], "b": {"c": None}}, "nan": math.nan, "big": 2**80}
    run = strobe.init(project="p", id="rich", name="rich", notes="n\nm", group="g", job_type="eval", config=config)
    run.define_metric("acc*", summary="max", goal="maximize")
    for step in range(40):
        row: dict[str, Any] = {"loss": math.nan if step == 7 else 1.0 - step / 100, "acc": step * (40 - step)}
        if step % 10 == 0:
            row |= {"nested": {"x": step, "y": {"z": float(step)}}, "text": f"t{step}", "flag": step == 0}
            row |= {"array": np.arange(3) + step, "huge": 2**70 + step, "inf": math.inf}
        run.log(row)
    run.log({"hist": strobe.Histogram([1, 2, 3]), "page": strobe.Html("<b>hi</b>")})
    Path("notes.txt").write_text("saved")
    Path("sub").mkdir()
    Path("sub/data.bin").write_bytes(bytes(range(256)) * 40)
    run.save("notes.txt")
    run.save("sub/data.bin")
    artifact = strobe.Artifact("dataset", type="dataset", description="words", metadata={"rows": 3})
    artifact.add_file("notes.txt")
    artifact.add_file("sub/data.bin", name="d/data.bin")
    run.log_artifact(artifact, aliases=["best"], tags=["good"]).wait()
    later = strobe.Artifact("dataset", type="dataset")
    later.add_file("notes.txt", name="other.txt")
    run.log_artifact(later).wait()
    run.summary["by_hand"] = {"deep": 1}
    run.alert("look", "at this", level="WARN")
    run.finish()


def _samples(run_dir: RunDir) -> None:
    """What an agent and a console would have written."""
    now = time.time_ns()
    path = run_dir.run_path
    header = Header(entity=path.entity, project=path.project, run=path.id, writer="sys00001", kind="system")
    system = Writer(run_dir.journal, header)
    system.event(event.Started(time_ns=now, primary=False))
    for step in range(5):
        system.row({"cpu": 10.0 * step, "gpu.0.util": step}, step)
    system.close()
    talk = Writer(
        run_dir.journal,
        Header(entity=path.entity, project=path.project, run=path.id, writer="talk0001", kind="fork"),
    )
    for number, text in enumerate(("hello\n", " 1%\r", "\x1b[31mred\x1b[0m\n", "last\n")):
        talk.event(event.Console(time_ns=now + number, stream="stdout", text=text))
    talk.close()
