"""A run reads the same from its home and from the server: every property, every method."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import strobe
from strobe.api import Run
from strobe.api.card import card, metric
from strobe.api.diff import same
from strobe.home import RunPath
from strobe.journal.value import Array

from .conftest import RUNS, Twins, project_of

#: where the two are told apart on purpose
PLACES = {"entity", "path", "url", "run_dir", "directory", "user", "replay"}
#: methods have tests of their own below
PROPERTIES = sorted(
    name
    for name in dir(Run)
    if not name.startswith("_") and isinstance(getattr(Run, name), property) and name not in PLACES
)


def equal(left: Any, right: Any) -> bool:
    """Compare values: NaN is NaN, 1 is 1.0, whatever they lie in."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.array_equal(left, right)
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-12) or left == right or (left != left and right != right)
    return type(left) is type(right) and left == right if isinstance(left, Array) else same(left, right)


@pytest.fixture(params=RUNS)
def pair(request: pytest.FixtureRequest, twins: Twins) -> tuple[Run, Run]:
    name = f"{project_of(request.param)}/{request.param}"
    return twins.local.run(name), twins.remote.run(name)


def _plain(name: str, found: Any) -> Any:
    if name == "attempts":
        return [
            (a.number, a.state, a.started_ns, a.ended_ns, a.from_step, sorted(a.writers), a.rejected) for a in found
        ]
    if name == "metrics":
        return _figures({key: metric(digest) for key, digest in found.items()})
    return found


def _figures(metrics: dict[str, Any]) -> dict[str, Any]:
    """A server's digests are of floats: False is 0.0 there, and integers beyond 53 bits cannot be told apart."""
    return {key: {**found, "last": float(found["last"])} for key, found in metrics.items() if key != "huge"}


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_property(pair: tuple[Run, Run], name: str) -> None:
    local, remote = (_plain(name, getattr(run, name)) for run in pair)
    assert equal(local, remote), f"{name}: {local!r} in the home, {remote!r} on the server"


def test_what_differs_on_purpose(pair: tuple[Run, Run], twins: Twins) -> None:
    local, remote = pair
    assert (local.entity, remote.entity) == ("local", "ann")
    assert remote.path == ["ann", *local.path[1:]]
    assert remote.url == f"{twins.real.url}/ann/{local.project}/runs/{local.id}"
    assert (local.directory is None, remote.directory) == (False, None)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"keys": ["loss"]},
        {"keys": ["acc", "loss"], "samples": 5},
        {"keys": ["nested.x", "nope"]},
        {"keys": ["array", "huge", "inf", "text", "hist"]},
        {"x_axis": "acc", "keys": ["loss"]},
        {"attempt": 1},
        {"stream": "system"},
    ],
)
def test_history(pair: tuple[Run, Run], options: dict[str, Any]) -> None:
    local, remote = (run.history(pandas=False, **options) for run in pair)
    assert equal(local, remote)


def test_history_as_a_frame(pair: tuple[Run, Run]) -> None:
    local, remote = (run.history() for run in pair)
    assert isinstance(remote, pd.DataFrame)
    assert set(local.columns) == set(remote.columns)
    for column in local.columns:
        assert str(local[column].dtype) == str(remote[column].dtype), column
        assert equal(list(local[column]), list(remote[column])), column


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"page_size": 3},
        {"keys": ["loss", "acc"], "page_size": 7},
        {"keys": ["loss", "acc"], "any_key": True},
        {"min_step": 2, "max_step": 9, "page_size": 2},
    ],
)
def test_scan_history(pair: tuple[Run, Run], options: dict[str, Any]) -> None:
    local, remote = (list(run.scan_history(**options)) for run in pair)
    assert equal(local, remote)


def test_console(pair: tuple[Run, Run]) -> None:
    local, remote = pair
    assert local.console_logs() == remote.console_logs()
    assert local.console_logs(styles=True) == remote.console_logs(styles=True)


def test_files(pair: tuple[Run, Run], tmp_path: Path) -> None:
    local, remote = ({file.name: file for file in run.files()} for run in pair)
    assert list(local) == list(remote)
    for name, file in remote.items():
        twin = local[name]
        assert (file.size, file.md5, file.mimetype, file.updated_at) == (
            twin.size, twin.md5, twin.mimetype, twin.updated_at)  # fmt: skip
        file.download(tmp_path).close()
        assert (tmp_path / name).read_bytes() == twin.path.read_bytes()
    assert [file.name for file in pair[1].files(pattern="*.txt")] == [
        file.name for file in pair[0].files(pattern="*.txt")
    ]


def test_artifacts(pair: tuple[Run, Run], tmp_path: Path) -> None:
    for role in ("logged_artifacts", "used_artifacts"):
        local, remote = (getattr(run, role)() for run in pair)
        assert [artifact.name for artifact in local] == [artifact.name for artifact in remote]
        for twin, artifact in zip(local, remote, strict=True):
            for name in (
                "type", "version", "project", "digest", "size", "file_count", "aliases", "tags", "metadata",
                "description", "state", "ttl", "is_link", "history_step", "created_at", "digest_algorithm",
            ):  # fmt: skip
                assert getattr(twin, name) == getattr(artifact, name), name
            assert twin.manifest.encode() == artifact.manifest.encode()
            assert [run.id for run in twin.used_by()] == [run.id for run in artifact.used_by()]
            place = Path(artifact.download(tmp_path / role / artifact.name))
            artifact.verify(place)


@pytest.mark.parametrize("order", [("maker", "taker"), ("taker", "maker")])
def test_what_a_run_used_is_known_whichever_comes_first(fresh: Twins, order: tuple[str, str], tmp_path: Path) -> None:
    content = tmp_path / "content.txt"
    for run_id, project in (("maker", "p"), ("taker", "q")):
        with strobe.init(
            project=project, id=run_id, dir=fresh.home.path, mode="offline", settings={"agent": False}
        ) as run:
            for number in range(2 if run_id == "maker" else 0):
                content.write_text(str(number))
                artifact = strobe.Artifact("data", "dataset")
                artifact.add_file(str(content))
                run.log_artifact(artifact).wait()
            if run_id == "taker":
                run.use_artifact("p/data:v0")
    for run_id in order:
        fresh.upload(fresh.home.run_dir(RunPath("local", "p" if run_id == "maker" else "q", run_id)))
    for api in (fresh.local, fresh.remote):
        assert [found.name for found in api.run("q/taker").used_artifacts()] == ["data:v0"]
        assert [found.name for found in api.run("p/maker").logged_artifacts()] == ["data:v0", "data:v1"]
        assert [run.id for run in api.artifact("p/data:v0").used_by()] == ["taker"]


def test_the_whole_page(pair: tuple[Run, Run]) -> None:
    local, remote = (card(run) for run in pair)
    for page in (local, remote):
        del page["directory"], page["entity"], page["url"]
        page["metrics"] = _figures(page["metrics"])
        for use in page["artifacts"]:
            del use["aliases"]  # a journal has those of the moment of logging, a server those of now
            use["name"] = use["name"].replace("local/", "ann/")
    assert local.keys() == remote.keys()
    assert [key for key in local if not equal(local[key], remote[key])] == []


def test_the_picture_for_notebooks(pair: tuple[Run, Run]) -> None:
    for run in pair:
        bundle = run._repr_mimebundle_()
        assert bundle["image/svg+xml"].startswith("<svg ")
        assert run.name in bundle["image/svg+xml"]
        assert ("<a href=" in bundle["text/html"]) == (run.url is not None)
