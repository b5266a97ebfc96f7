"""The artifacts of a home over HTTP: as the store of the home has them, from where they lie."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import strobe
from strobe.artifact import Artifact, Manifest, store
from strobe.artifact.commit import commit
from strobe.home import Home
from strobe.server.local.home_tail import HomeTail
from strobe.server.local.index import IndexPlace
from strobe.server.local.store import LocalStore
from strobe.server.services import ServerSettings
from tests.server.conftest import Clock, Stage

AT = "/api/v1/artifacts/local/p"
DATA = f"{AT}/collections/data"


class Served(Stage):
    """A home, and what `strobe ui` serves of it."""

    home: Home
    tail: HomeTail
    now_ns: int = 0

    def get(self, path: str, **keywords: Any) -> Any:
        answer = self.ask("GET", path, **keywords)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def poll(self) -> None:
        self.tail.poll()
        self.store.settler.settle()


@pytest.fixture
def ui(home: Home, tmp_path: Path) -> Iterator[Served]:
    _record(home, tmp_path)
    index = LocalStore(home, IndexPlace(home).database)
    served = Served(index, Clock(), ServerSettings(mode="local"))
    served.home, served.tail = home, HomeTail(home, index, _steps(), lambda text: None)
    served.poll()
    yield served
    index.close()


def _steps() -> Any:
    """Return a clock that is far on at each look, so that every poll is a full one."""
    moments = iter(range(time.time_ns(), 2**62, 60 * 10**9))
    return lambda: next(moments)


def start(home: Home, run_id: str, project: str = "p") -> strobe.Run:
    return strobe.init(
        project=project, id=run_id, dir=home.path, mode="offline", reinit="create_new", settings={"agent": False}
    )


def draft(place: Path, text: str, name: str = "data", kind: str = "dataset", **keywords: Any) -> Artifact:
    place.mkdir(exist_ok=True)
    (place / "a.txt").write_text(text)
    artifact = Artifact(name, kind, **keywords)
    artifact.add_file(str(place / "a.txt"))
    return artifact


def _record(home: Home, tmp_path: Path) -> None:
    place = tmp_path / "made"
    maker = start(home, "maker")
    first = draft(place, "first", description="words", metadata={"rows": 3})
    (place / "b.bin").write_bytes(bytes(range(256)) * 8)
    first.add_file(str(place / "b.bin"), name="deep/b.bin")
    first.add_reference("https://example.org/x", name="far", checksum=False)
    maker.log_artifact(first, aliases=["best"], tags=["good"]).wait()
    maker.log_artifact(draft(place, "second")).wait()
    maker.log_artifact(draft(place, "model", "net", "model")).wait()
    maker.finish()
    taker = start(home, "taker", "q")
    taker.use_artifact("p/data:best", use_as="train")
    taker.finish()


def id_of(ui: Served, reference: str = "best", name: str = "data") -> str:
    found: str = ui.get(f"{AT}/collections/{name}/versions/{reference}")["id"]
    return found


def test_types_and_collections(ui: Served) -> None:
    assert ui.get(f"{AT}/types")["items"] == [
        {"name": "dataset", "num_collections": 1},
        {"name": "model", "num_collections": 1},
    ]
    page = ui.get(f"{AT}/collections?limit=1")
    assert ([it["name"] for it in page["items"]], page["cursor"]) == (["data"], "data")
    assert [it["name"] for it in ui.get(f"{AT}/collections?cursor=data")["items"]] == ["net"]
    assert [it["name"] for it in ui.get(f"{AT}/collections?type=model")["items"]] == ["net"]
    data = ui.get(DATA)
    assert (data["type"], data["num_versions"], data["latest"], data["size"]) == ("dataset", 2, 1, 2048 + 5 + 6)


def test_versions(ui: Served) -> None:
    page = ui.get(f"{DATA}/versions")
    assert [(it["number"], it["aliases"]) for it in page["items"]] == [(1, ["latest"]), (0, ["best"])]
    assert [it["number"] for it in ui.get(f"{DATA}/versions?cursor=1")["items"]] == [0]
    assert [it["number"] for it in ui.get(f"{DATA}/versions?tag=good")["items"]] == [0]
    assert ui.get(f"{DATA}/versions?limit=1")["cursor"] == "1"
    assert ui.get(f"{DATA}/versions?deleted=true")["items"] == []
    best = ui.get(f"{DATA}/versions/best")
    local = store.find(ui.home, "p/data:best")
    assert best == ui.get(f"{DATA}/versions/v0") == ui.get(f"/api/v1/artifact-versions/{local.id}")
    assert (best["digest"], best["size"], best["num_files"]) == (local.digest, local.size, 3)
    assert (best["description"], best["metadata"], best["tags"]) == ("words", {"rows": 3}, ["good"])
    assert (best["logged_by"], best["source"], best["deleted_ns"]) == ("local/p/maker", None, None)


@pytest.mark.parametrize(
    "path",
    [
        f"{DATA}/versions/v7",
        f"{DATA}/versions/nothing",
        f"{DATA}/versions/x%3Ay",
        f"{DATA}/versions/v99999999999999999999999",
        f"{AT}/collections/nothing",
        f"{AT}/collections/nothing/versions",
        f"{AT}/collections/%2E%2E/versions",
        f"{AT}/collections/a%5Cb/versions/latest",
        f"{DATA}/versions/best/files/nothing",
        f"{DATA}/versions/best/files/..%2F..%2Fversion.json",
        "/api/v1/artifacts/local/nothing/collections",
        f"/api/v1/artifact-versions/{'0' * 32}",
    ],
)
def test_what_is_not_there(ui: Served, path: str) -> None:
    answer = ui.ask("GET", path)
    assert answer.status_code == 404, answer.text
    assert answer.json()["detail"]


def test_a_collection_of_that_name_above_the_project_is_not_reached(ui: Served, home: Home) -> None:
    """Only names of artifacts are looked for, never ways up."""
    (home.artifacts / "collections" / "local" / "collection.json").write_text('{"name":"x","type":"t","created_ns":1}')
    for name in ("..", "%2E%2E", "."):
        assert ui.ask("GET", f"{AT}/collections/{name}/versions").status_code == 404


def test_what_a_version_holds(ui: Served) -> None:
    local = store.find(ui.home, "p/data:best")
    answer = ui.ask("GET", f"{DATA}/versions/best/manifest")
    assert Manifest.decode(answer.content).digest == local.digest
    items = ui.get(f"{DATA}/versions/best/entries")["items"]
    assert [(it["path"], it["size"], it["ref"]) for it in items] == [
        ("a.txt", 5, None),
        ("deep/b.bin", 2048, None),
        ("far", None, "https://example.org/x"),
    ]
    page = ui.get(f"{DATA}/versions/best/entries?limit=1&cursor=a.txt")
    assert ([it["path"] for it in page["items"]], page["cursor"]) == (["deep/b.bin"], "deep/b.bin")
    assert [it["path"] for it in ui.get(f"{DATA}/versions/best/entries?prefix=deep/")["items"]] == ["deep/b.bin"]


def test_contents_come_from_where_they_lie(ui: Served, tmp_path: Path) -> None:
    path = f"{DATA}/versions/best/files/deep/b.bin"
    whole = bytes(range(256)) * 8
    answer = ui.ask("GET", path)
    assert (answer.status_code, answer.content) == (200, whole)
    part = ui.ask("GET", path, headers={"Range": "bytes=250-299"})
    assert (part.status_code, part.content) == (206, whole[250:300])
    assert part.headers["content-range"] == "bytes 250-299/2048"
    assert ui.ask("GET", path, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    assert ui.ask("GET", path, headers={"Range": "bytes=9999-"}).status_code == 416
    assert ui.ask("GET", f"{DATA}/versions/best/files/far").status_code == 409
    assert not list((IndexPlace(ui.home).path / "blobs").rglob("*")), "nothing is copied"


def test_a_content_that_is_lost_or_torn_is_an_error_and_not_a_torn_answer(ui: Served) -> None:
    entry = store.find(ui.home, "p/data:best").get_entry("deep/b.bin")
    assert entry.object_path is not None
    os.chmod(entry.object_path, 0o644)
    entry.object_path.write_bytes(b"short")
    answer = ui.ask("GET", f"{DATA}/versions/best/files/deep/b.bin")
    assert (answer.status_code, "damaged" in answer.json()["detail"]) == (404, True)
    entry.object_path.unlink()
    answer = ui.ask("GET", f"{DATA}/versions/best/files/deep/b.bin")
    assert (answer.status_code, "lost" in answer.json()["detail"]) == (404, True)


def test_a_link_to_a_content(ui: Served) -> None:
    goal = {"kind": "entry", "version": id_of(ui), "path": "a.txt"}
    made = ui.ask("POST", "/api/v1/links", json={"method": "GET", "goal": goal})
    assert made.status_code == 200, made.text
    assert ui.ask("GET", made.json()["url"]).content == b"first"


def test_lineage(ui: Served) -> None:
    runs = ui.get(f"/api/v1/artifact-versions/{id_of(ui)}/runs")["items"]
    assert [(it["run"], it["role"], it["use_as"]) for it in runs] == [
        ("local/p/maker", "logged", None),
        ("local/q/taker", "used", "train"),
    ]
    logged = ui.get("/api/v1/runs/local/p/maker/artifacts")["items"]
    assert [(it["name"], it["number"]) for it in logged] == [("data", 0), ("data", 1), ("net", 0)]
    used = ui.get("/api/v1/runs/local/q/taker/artifacts?role=used")["items"]
    assert [(it["name"], it["number"]) for it in used] == [("data", 0)]
    assert ui.get("/api/v1/runs/local/q/taker/artifacts")["items"] == []


def test_the_same_content_logged_by_another_run(ui: Served, tmp_path: Path) -> None:
    again = start(ui.home, "again")
    again.log_artifact(draft(tmp_path / "made", "second")).wait()
    again.finish()
    ui.poll()
    runs = ui.get(f"/api/v1/artifact-versions/{id_of(ui, 'latest')}/runs")["items"]
    assert [it["run"] for it in runs] == ["local/p/maker", "local/p/again"]


def test_a_use_that_is_noted_is_in_the_home(ui: Served) -> None:
    body = {"version": id_of(ui, "latest", "net"), "use_as": "start"}
    answer = ui.ask("POST", "/api/v1/runs/local/q/taker/artifacts", json=body)
    assert answer.status_code == 200, answer.text
    ui.poll()
    used = ui.get("/api/v1/runs/local/q/taker/artifacts?role=used")["items"]
    assert [it["name"] for it in used] == ["data", "net"]
    assert [str(run) for run in store.find(ui.home, "p/net").used_by()] == ["local/q/taker"]
    runs = ui.get(f"/api/v1/artifact-versions/{body['version']}/runs")["items"]
    assert [(it["run"], it["role"], it["use_as"]) for it in runs][1:] == [("local/q/taker", "used", "start")]


def test_edits_are_edits_of_the_home(ui: Served) -> None:
    changes = {
        "description": "other",
        "metadata": {"rows": 4},
        "tags": ["bad"],
        "ttl_s": 60,
        "add_aliases": ["prod", "latest"],
        "remove_aliases": ["best"],
    }
    answer = ui.ask("PATCH", f"{DATA}/versions/best", json=changes)
    assert answer.status_code == 200, answer.text
    edited = answer.json()
    assert edited == ui.get(f"{DATA}/versions/prod")
    assert (edited["aliases"], edited["ttl_s"]) == (["prod"], 60)
    local = store.find(ui.home, "p/data:prod")
    assert (local.description, local.metadata, local.tags) == ("other", {"rows": 4}, ["bad"])
    assert local.ttl is not None
    assert ui.ask("GET", f"{DATA}/versions/best").status_code == 404
    kept = ui.ask("PATCH", f"{DATA}/versions/prod", json={"description": "third"}).json()
    assert (kept["description"], kept["metadata"], kept["tags"], kept["ttl_s"]) == ("third", {"rows": 4}, ["bad"], 60)


@pytest.mark.parametrize("wrong", [{"tags": ["no/"]}, {"add_aliases": ["v7"]}, {"ttl_s": 0}, {"add_aliases": ["../x"]}])
def test_an_edit_that_makes_no_sense_changes_nothing(ui: Served, wrong: dict[str, Any]) -> None:
    before = ui.get(f"{DATA}/versions/best")
    answer = ui.ask(
        "PATCH", f"{DATA}/versions/best", json={"description": "other", "remove_aliases": ["best"], **wrong}
    )
    assert answer.status_code == 400, answer.text
    assert ui.get(f"{DATA}/versions/best") == before


def test_deleting(ui: Served) -> None:
    version = id_of(ui)
    refused = ui.ask("DELETE", f"{DATA}/versions/best")
    assert (refused.status_code, "best" in refused.json()["detail"]) == (400, True)
    assert ui.ask("DELETE", f"{DATA}/versions/best?aliases=true").status_code == 204
    assert [it["number"] for it in ui.get(f"{DATA}/versions")["items"]] == [1]
    assert not store.exists(ui.home, "p/data:v0")
    gone = ui.get(f"/api/v1/artifact-versions/{version}")
    assert (gone["number"], gone["deleted_ns"] is not None, gone["aliases"]) == (0, True, [])
    undo = ui.ask("POST", f"/api/v1/artifact-versions/{version}/restore")
    assert (undo.status_code, "log it again" in undo.json()["detail"]) == (409, True)
    assert [it["name"] for it in ui.get("/api/v1/runs/local/p/maker/artifacts")["items"]] == ["data", "net"]


def test_a_version_that_is_there_needs_no_restoring(ui: Served) -> None:
    assert ui.ask("POST", f"/api/v1/artifact-versions/{id_of(ui)}/restore").json()["number"] == 0


def test_a_home_takes_artifacts_from_runs_only(ui: Served) -> None:
    body = {"name": "data", "type": "dataset", "manifest": {"version": 1, "contents": {}}}
    answer = ui.ask("POST", f"{AT}/drafts", json=body)
    assert (answer.status_code, "log_artifact" in answer.json()["detail"]) == (409, True)
    assert ui.ask("GET", f"/api/v1/artifact-drafts/{'0' * 32}").status_code == 404
    answer = ui.ask("PATCH", DATA, json={"description": "all of it"})
    assert (answer.status_code, "version" in answer.json()["detail"]) == (409, True)


def test_what_is_logged_later_is_there(ui: Served, tmp_path: Path) -> None:
    later = start(ui.home, "later")
    later.log_artifact(draft(tmp_path / "made", "third"), aliases=["best"]).wait()
    later.finish()
    assert ui.get(f"{DATA}/versions/best")["number"] == 2, "no index in between"
    assert ui.get(f"/api/v1/artifact-versions/{id_of(ui)}")["number"] == 2


def test_a_project_that_has_artifacts_and_no_runs(ui: Served, tmp_path: Path) -> None:
    commit(draft(tmp_path / "made", "alone"), ui.home, "local", "alone")
    ui.poll()
    assert [it["name"] for it in ui.get("/api/v1/artifacts/local/alone/collections")["items"]] == ["data"]
    assert "alone" in [it["name"] for it in ui.get("/api/v1/projects")["items"]]


def test_a_damaged_version_does_not_hide_the_others(ui: Served) -> None:
    collection = ui.home.artifacts / "collections" / "local" / "p" / "data"
    (collection / "v1" / "version.json").write_text("{")
    (ui.home.artifacts / "collections" / "local" / "p" / "net" / "collection.json").write_text("{")
    assert [it["number"] for it in ui.get(f"{DATA}/versions")["items"]] == [0]
    assert [it["name"] for it in ui.get(f"{AT}/collections")["items"]] == ["data"]
    assert ui.get(f"{AT}/types")["items"] == [{"name": "dataset", "num_collections": 1}]
    assert ui.get(f"/api/v1/artifact-versions/{id_of(ui, 'v0')}")["number"] == 0
    answer = ui.ask("GET", f"{DATA}/versions/v1")
    assert (answer.status_code, "damaged" in answer.json()["detail"]) == (404, True)
    assert [it["name"] for it in ui.get("/api/v1/runs/local/p/maker/artifacts")["items"]] == ["data"]


def test_a_link_to_a_version_elsewhere(ui: Served) -> None:
    store.find(ui.home, "p/data:best").link("registry/data", ["prod"])
    ui.poll()
    linked = ui.get("/api/v1/artifacts/local/registry/collections/data/versions/prod")
    assert linked["source"] == "local/p/data:v0"
    assert ui.ask("GET", "/api/v1/artifacts/local/registry/collections/data/versions/prod/files/a.txt").text == "first"
