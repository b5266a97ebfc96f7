"""Projects, diffs, exports and saved views over HTTP."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.server.table.conftest import SECOND, Table

# --- projects


def test_projects_are_listed_with_figures(table: Table) -> None:
    table.add("a", project="one")
    table.stage.clock.now_ns += 5 * SECOND
    table.add("b", project="one", ended=None)
    table.add("c", project="two")
    answer = table.get("/projects")
    one, two = answer["items"]
    assert (one["name"], one["num_runs"], one["num_running"]) == ("one", 2, 1)
    assert one["active_ns"] == table.stage.clock.now_ns
    assert (two["name"], two["num_runs"]) == ("two", 1)
    first = table.get("/projects", limit=1)
    assert first["cursor"] == "ann/one"
    assert [project["name"] for project in table.get("/projects", cursor=first["cursor"])["items"]] == ["two"]
    assert table.get("/projects", entity="bob")["items"] == []


def test_everybody_sees_their_own_and_what_is_shared(table: Table) -> None:
    for name, access in (("mine", "private"), ("ours", "team"), ("all", "public")):
        answer = table.ask("POST", "/projects", json={"entity": "ann", "name": name, "access": access})
        assert answer.status_code == 201, answer.text
    eve = table.stage.key("eve")
    listed = table.ask("GET", "/projects", key=eve).json()["items"]
    assert [project["name"] for project in listed] == ["all", "ours"]
    open_to_all = table.stage.ask("GET", "/api/v1/projects").json()["items"]
    assert [project["name"] for project in open_to_all] == ["all"]


def test_a_project_is_made_once_and_changed(table: Table) -> None:
    body = {"entity": "ann", "name": "p", "description": "cats", "retention_days": 30}
    made = table.ask("POST", "/projects", json=body)
    assert (made.status_code, made.json()["description"], made.json()["retention_days"]) == (201, "cats", 30)
    assert table.ask("POST", "/projects", json=body).status_code == 409
    changed = table.ask("PATCH", "/projects/ann/p", json={"retention_days": None, "access": "public"}).json()
    assert (changed["description"], changed["retention_days"], changed["access"]) == ("cats", None, "public")
    assert table.ask("PATCH", "/projects/ann/p", json={"access": "secret"}).status_code == 422
    assert table.ask("PATCH", "/projects/ann/none", json={"description": "x"}).status_code == 404
    assert table.ask("POST", "/projects", json={"entity": "ann", "name": "a/b"}).status_code == 400
    writer = table.stage.key("ann", "write")
    assert table.ask("PATCH", "/projects/ann/p", json={"description": "dogs"}, key=writer).status_code == 200
    assert table.ask("PATCH", "/projects/ann/p", json={"access": "team"}, key=writer).status_code == 403


# --- diff


def test_only_what_differs_is_said(table: Table) -> None:
    table.add("a", config={"lr": 1, "same": math.nan, "opt": {"name": "adam"}}, attributes={"pid": 1, "host": "x"})
    table.add("b", config={"lr": 1.0, "same": math.nan, "opt": {"name": "sgd"}, "new": 1}, attributes={"pid": 2})
    body: dict[str, Any] = {"runs": ["ann/p/a", "ann/p/b"]}
    answer = table.ask("POST", "/diff", json=body).json()
    assert answer["runs"] == ["ann/p/a", "ann/p/b"]
    assert [(line["section"], line["key"], line["values"], line["present"]) for line in answer["items"]] == [
        ("config", "opt.name", ["adam", "sgd"], [True, True]),
        ("config", "new", [None, 1], [False, True]),
        ("environment", "host", ["x", None], [True, False]),
    ]
    ignoring = table.ask("POST", "/diff", json={**body, "ignore": ["config.*"]}).json()["items"]
    assert [line["key"] for line in ignoring] == ["host"]
    everything = table.ask("POST", "/diff", json={**body, "everything": True, "sections": ["config"]}).json()["items"]
    assert {line["key"] for line in everything} == {"lr", "same", "opt.name", "new"}


@pytest.mark.parametrize(
    ("runs", "status"), [(["ann/p/a"], 422), (["ann/p/a", "ann/p/none"], 404), (["ann/p/a", "///"], 400)]
)
def test_what_cannot_be_compared(table: Table, runs: list[str], status: int) -> None:
    table.add("a")
    assert table.ask("POST", "/diff", json={"runs": runs}).status_code == status


# --- export


@pytest.fixture
def exported(table: Table) -> Table:
    table.add("a", config={"lr": 0.5, "m": {"x": 1}, "n": 1}, summary={"acc": math.nan}, attributes={"name": "fox, é"})
    table.add("b", config={"lr": 2, "l": [1, "t"], "n": "t"}, summary={"acc": 2**60}, attributes={"tags": ["t"]})
    return table


def test_runs_as_csv(exported: Table) -> None:
    answer = exported.ask("GET", "/projects/ann/p/export", params={"sort": "id"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="p-runs.csv"'
    first, second = csv.DictReader(io.StringIO(answer.text))
    assert (first["display_name"], first["config.lr"], first["config.m.x"], first["summary.acc"]) == (
        "fox, é", "0.5", "1", "NaN",
    )  # fmt: skip
    assert (second["config.lr"], second["config.l"], second["summary.acc"]) == ("2", '[1, "t"]', str(2**60))
    assert (second["tags"], second["config.m.x"]) == ('["t"]', "")
    assert "config.m" not in first


def test_runs_as_json_lines(exported: Table) -> None:
    params = {"format": "jsonl", "columns": ["id", "summary.acc"], "filter": '{"config.lr": {"$lt": 1}}'}
    answer = exported.ask("GET", "/projects/ann/p/export", params=params)
    assert [json.loads(line) for line in answer.text.splitlines()] == [{"id": "a", "summary.acc": "NaN"}]


def test_runs_as_parquet(exported: Table) -> None:
    answer = exported.ask("GET", "/projects/ann/p/export", params={"format": "parquet", "sort": "id"})
    found = pq.read_table(io.BytesIO(answer.content)).to_pydict()
    assert found["id"] == ["a", "b"]
    assert found["config.lr"] == [0.5, 2.0]
    assert found["config.n"] == ["1", '"t"']
    assert math.isnan(found["summary.acc"][0])
    assert found["config.l"] == [None, '[1, "t"]']


def test_many_runs_are_exported_in_portions(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    from strobe.server.routes import export

    monkeypatch.setattr(export, "_RUNS_AT_ONCE", 3)
    for number in range(10):
        table.add(f"r{number}", config={"n": number})
    for form in ("csv", "parquet"):
        params = {"sort": "-config.n", "format": form, "columns": ["config.n", "created_ns"]}
        answer = table.ask("GET", "/projects/ann/p/export", params=params)
        if form == "csv":
            assert [int(row["config.n"]) for row in csv.DictReader(io.StringIO(answer.text))] == list(range(9, -1, -1))
        else:
            found = pq.read_table(io.BytesIO(answer.content)).to_pydict()
            assert found["config.n"] == list(range(9, -1, -1))
            assert found["created_ns"][0] == table.stage.clock.now_ns


def test_an_export_of_nothing_is_a_table_without_rows(table: Table) -> None:
    table.ask("POST", "/projects", json={"entity": "ann", "name": "p"})
    answer = table.ask("GET", "/projects/ann/p/export", params={"columns": "id"})
    assert answer.text == "id\n"
    answer = table.ask("GET", "/projects/ann/p/export", params={"columns": "id", "format": "parquet"})
    assert pq.read_table(io.BytesIO(answer.content)).num_rows == 0


def test_what_is_wrong_is_said_before_the_file_begins(exported: Table) -> None:
    params: dict[str, str]
    for params in ({"filter": '{"x": 1}'}, {"sort": "x"}, {"columns": "x"}):
        assert exported.ask("GET", "/projects/ann/p/export", params=params).status_code == 400, params
    refused = exported.ask("GET", "/projects/ann/p/export", params={"format": "xls"})
    assert (refused.status_code, "openapi.json" in refused.json()["detail"]) == (422, True)


def test_a_history_in_each_form(table: Table) -> None:
    rows: list[dict[str, Any]] = [{"loss": 1 / (n + 1), "word": f"w{n}"} for n in range(5)]
    rows[2]["loss"] = math.inf
    rows[0]["mixed"], rows[1]["mixed"] = "w", 1.5
    table.add("r", rows=rows)
    path = "/runs/ann/p/r/export"
    lines = list(csv.DictReader(io.StringIO(table.ask("GET", path).text)))
    assert [line["_step"] for line in lines] == list("01234")
    assert [line["word"] for line in lines] == [f"w{n}" for n in range(5)]
    assert lines[2]["loss"] == "inf"
    found = pq.read_table(io.BytesIO(table.ask("GET", path, params={"format": "parquet"}).content)).to_pydict()
    assert found["loss"] == [row["loss"] for row in rows]
    assert found["_step"] == list(range(5))
    assert found["word"] == [f"w{n}" for n in range(5)]
    assert found["mixed"] == ['"w"', "1.5", None, None, None]
    some = table.ask("GET", path, params={"format": "jsonl", "keys": ["loss"]}).text.splitlines()
    assert json.loads(some[2])["loss"] == "Infinity"
    assert json.loads(some[0]).keys() == {"_step", "_runtime", "_timestamp", "loss"}


# --- views


def test_views_over_http(table: Table) -> None:
    table.add("r")
    views = "/projects/ann/p/views"
    made = table.ask("POST", views, json={"name": "best", "document": {"sort": "-x"}})
    assert (made.status_code, made.json()["version"], made.json()["owner"]) == (201, 1, "ann")
    assert table.ask("POST", views, json={"name": "best", "document": {}}).status_code == 409
    changed = table.ask("PUT", f"{views}/best", json={"version": 1, "document": {"sort": "y"}})
    assert changed.json()["version"] == 2
    late = table.ask("PUT", f"{views}/best", json={"version": 1, "document": {}})
    assert (late.status_code, late.json()["type"]) == (409, "urn:strobe:problem:conflict")
    assert table.get(f"{views}/best")["document"] == {"sort": "y"}
    assert [view["name"] for view in table.get(views)["items"]] == ["best"]
    assert table.ask("DELETE", f"{views}/best", params={"version": 1}).status_code == 409
    assert table.ask("DELETE", f"{views}/best").status_code == 204
    assert table.ask("GET", f"{views}/best").status_code == 404
    reader = table.stage.key("ann", "read")
    assert table.ask("POST", views, json={"name": "n", "document": {}}, key=reader).status_code == 403
