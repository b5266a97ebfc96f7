"""Lists of runs on a server: filtered, ordered and paged there; projects, names, who asks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from strobe.api import Api
from strobe.api.server.host import Host
from strobe.errors import ArtifactError, CommError, RunNotFound, UsageError

from .conftest import RUNS, Twins


def ids(runs: Any) -> list[str]:
    return [run.id for run in runs]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the server is asked for, in order."""
    found: list[str] = []
    ask = Host._ask

    def note(self: Host, method: str, path: str, *rest: Any, **options: Any) -> Any:
        found.append(f"{method} {path}")
        return ask(self, method, path, *rest, **options)

    monkeypatch.setattr(Host, "_ask", note)
    return found


@pytest.mark.parametrize(
    ("path", "filters", "order"),
    [
        ("p", None, "+created_at"),
        ("p", None, "-created_at"),
        ("q", None, "+created_at"),
        (None, None, "+created_at"),
        (None, None, "-summary_metrics.loss"),
        ("p", {"config.lr": {"$gte": 0.2}}, "+config.lr"),
        ("p", {"tags": "a"}, "+created_at"),
        ("p", {"state": {"$in": ["finished", "failed"]}, "display_name": {"$regex": "^r"}}, "-name"),
        ("p", {"$or": [{"group": "g"}, {"config.lr": 0.1}]}, "+name"),
        ("p", {"$not": {"job_type": "eval"}}, "+created_at"),
        (None, {"config.kind": {"$exists": True}}, "+created_at"),
        ("p", {"config.nan": float("nan")}, "+created_at"),
        ("p", {"state": "running"}, "+created_at"),
    ],
)
def test_lists_as_in_a_home(twins: Twins, path: str | None, filters: dict[str, Any] | None, order: str) -> None:
    local = twins.local.runs(path, filters=filters, order=order)
    remote = twins.remote.runs(path, filters=filters, order=order, per_page=2)
    assert ids(remote) == ids(local)
    assert len(remote) == len(local)


def test_pages_come_as_they_are_needed(twins: Twins, asked: list[str]) -> None:
    runs = twins.remote.runs("ann/p", per_page=2)
    assert asked == []
    assert runs[0].id == "plain"
    assert len(asked) == 1
    assert ids(runs[:2]) == ["plain", "rich"]
    assert (runs[1].name, runs[1].tags, runs[1].config["lr"], runs[1].summary["acc"]) == (
        "rich",
        [],
        0.2,
        {"max": 400.0},
    )
    assert (runs[1].state, runs[1].num_rows, runs[1].last_step) == ("finished", 41, 40)
    assert len(asked) == 1, "what a list tells needs no further question"
    assert len(runs) == 4
    assert "count=true" in asked[1]
    assert ids(runs) == ["plain", "rich", "twice", "child"]
    assert runs[-1].id == "child"
    assert len(asked) == 3
    assert runs[1].metadata["user"]
    assert asked[3] == "GET /runs/ann/p/rich"


def test_an_index_beyond_the_end(twins: Twins) -> None:
    with pytest.raises(IndexError):
        twins.remote.runs("p")[9]
    assert ids(twins.remote.runs("p")[2:9]) == ["twice", "child"]
    assert ids(twins.remote.runs("p")[::-1]) == ["child", "twice", "rich", "plain"]
    assert bool(twins.remote.runs("p", filters={"state": "killed"})) is False


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("plain", "plain"),
        ("p/plain", "plain"),
        ("ann/p/plain", "plain"),
        ("ann/p/runs/plain", "plain"),
        ("pla", "plain"),
        ("p/ri", "rich"),
        ("the plain one", "plain"),
        ("elsewhere", "other"),
        ("p/latest", "child"),
        ("latest", "other"),
    ],
)
def test_a_run_by_all_its_names(twins: Twins, reference: str, found: str) -> None:
    assert twins.remote.run(reference).id == found


def test_what_is_not_there(twins: Twins) -> None:
    with pytest.raises(RunNotFound, match=r"did you mean plain\?") as caught:
        twins.remote.run("plian")
    assert twins.real.url in str(caught.value)
    with pytest.raises(RunNotFound, match="no run 'p/zzz'"):
        twins.remote.run("p/zzz")
    with pytest.raises(RunNotFound, match=r"ann/nope"):
        list(twins.remote.runs("nope"))
    with pytest.raises(RunNotFound, match=r"bob/p"):
        twins.remote.run("bob/p/latest")
    with pytest.raises(ArtifactError, match=re.escape(twins.real.url)):
        twins.remote.artifact("p/nothing:latest")
    with pytest.raises(ArtifactError, match="there is latest, best, v1, v0"):
        twins.remote.artifact("p/dataset:worst")
    with pytest.raises(UsageError, match="no file 'x'"):
        twins.remote.run("p/rich").file("x")
    with pytest.raises(UsageError, match="raw=True"):
        twins.remote.run("p/rich").console_logs(raw=True)
    with pytest.raises(UsageError, match="has no directory here"):
        _ = twins.remote.run("p/rich").run_dir


@pytest.mark.parametrize("filters", [{"nope": 1}, {"config.lr": {"$near": 1}}, "state", {"config.lr": object()}])
def test_filters_that_make_no_sense(twins: Twins, filters: Any) -> None:
    with pytest.raises(UsageError):
        list(twins.remote.runs("p", filters=filters))


def test_projects(twins: Twins) -> None:
    api = twins.remote
    assert [project.path for project in api.projects()] == [["ann", "p"], ["ann", "q"]]
    assert api.project("p").num_runs() == 4
    assert ids(api.project("q").runs()) == ["other"]
    assert api.project("p").url == f"{twins.real.url}/ann/p"
    with pytest.raises(RunNotFound, match="it has p, q"):
        api.project("nope")
    assert api.from_path("ann/p").id == "ann/p"
    assert api.from_path("p/plain").id == "plain"


def test_who_asks(twins: Twins) -> None:
    api = twins.remote
    assert (api.viewer.username, api.viewer.entity, api.default_entity) == ("ann", "ann", "ann")
    assert repr(api) == f"<Api {twins.real.url}>"
    with pytest.raises(UsageError, match="not a home"):
        _ = api.home


def test_artifacts(twins: Twins) -> None:
    local, remote = twins.local, twins.remote
    assert remote.artifact("p/dataset").name == local.artifact("p/dataset").name == "dataset:v1"
    assert remote.artifact("p/dataset:best").version == "v0"
    assert [each.name for each in remote.artifacts("dataset", "p/dataset")] == ["dataset:v1", "dataset:v0"]
    assert [each.name for each in remote.artifacts(None, "p/dataset", tags=["good"])] == ["dataset:v0"]
    assert remote.artifacts("model", "p/dataset") == []
    assert remote.artifact_types("p") == local.artifact_types("p") == ["dataset"]
    (collection,) = remote.artifact_collections("ann/p", "dataset")
    assert (collection.name, collection.numbers(), collection.aliases()) == (
        "dataset",
        [1, 0],
        {"latest": 1, "best": 0},
    )
    assert remote.artifact_exists("p/dataset:v0")
    assert not remote.artifact_exists("p/dataset:v7")
    assert not remote.artifact_exists("p/dataset:v0", type="model")


def test_what_was_downloaded_is_not_asked_for_again(twins: Twins, asked: list[str], tmp_path: Path) -> None:
    artifact = twins.remote.artifact("p/dataset:v0")
    artifact.download(tmp_path / "once")
    assert [line for line in asked if "/files/" in line] == [
        "GET /artifacts/ann/p/collections/dataset/versions/v0/files/d/data.bin",
        "GET /artifacts/ann/p/collections/dataset/versions/v0/files/notes.txt",
    ]
    assert len([line for line in asked if line.endswith("/manifest")]) == 1
    asked.clear()
    twins.remote.artifact("p/dataset:v0").download(tmp_path / "twice")
    assert [line for line in asked if "/files/" in line] == []
    assert (tmp_path / "twice" / "d" / "data.bin").read_bytes() == bytes(range(256)) * 40
    assert artifact.get_entry("notes.txt").download(tmp_path / "entry") == str(tmp_path / "entry" / "notes.txt")


def test_many_runs_in_one_table(twins: Twins) -> None:
    local, remote = (api.runs("p").histories(keys=["loss"]) for api in (twins.local, twins.remote))
    assert list(local["run_id"]) == list(remote["run_id"])
    assert local["loss"].equals(remote["loss"])


def test_a_wrong_key_says_how_to_get_a_right_one(twins: Twins) -> None:
    with pytest.raises(CommError, match="strobe login --host"):
        list(Api(twins.real.url, api_key="sk-wrong").runs("p"))
    with pytest.raises(CommError, match="strobe login --host"):
        Api(base_url=twins.real.url).run("p/plain")


def test_all_runs_are_there(twins: Twins) -> None:
    assert sorted(ids(twins.remote.runs())) == sorted(RUNS)
