"""Runs over HTTP: lists, groups, fields, one run, edits, deletion with undo, stop."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from tests.server.table.conftest import SECOND, Table

RUNS = "/projects/ann/p/runs"


def names(answer: Any) -> list[str]:
    return [item["id"] for item in answer["items"]]


@pytest.fixture
def filled(table: Table) -> Table:
    for number in range(5):
        table.add(
            f"r{number}",
            config={"lr": number / 10, "opt": "adam" if number % 2 else "sgd", "nested": {"depth": number}},
            summary={"acc": math.nan if number == 3 else 1 - number / 10},
            attributes={"name": f"fox-{number}", "tags": ["even"] if number % 2 == 0 else [], "user": "ada"},
            ended="failed" if number == 4 else "finished",
        )
    return table


def test_a_list_is_filtered_sorted_and_counted(filled: Table) -> None:
    wanted = json.dumps({"config.lr": {"$gte": 0.1}, "state": "finished"})
    answer = filled.get(RUNS, filter=wanted, sort="-summary.acc", count=True)
    assert names(answer) == ["r1", "r2", "r3"]
    assert (answer["total"], answer["cursor"]) == (3, None)
    first = answer["items"][0]
    assert (first["name"], first["user"], first["host"]) == ("fox-1", "ada", None)
    assert first["config"] == {"lr": 0.1, "opt": "adam", "nested": {"depth": 1}}
    assert answer["items"][2]["summary"] == {"acc": "NaN"}
    assert first["runtime_s"] == 1.0


def test_the_forks_of_a_run_are_found(filled: Table) -> None:
    filled.add("fork", forked_from="ann/p/r1", fork_step=3)
    filled.add("other", forked_from="ann/p/r2", fork_step=0)
    answer = filled.get(RUNS, filter=json.dumps({"parent": "ann/p/r1"}), columns=["parent"])
    (item,) = answer["items"]
    assert (item["id"], item["parent"], item["fork_step"]) == ("fork", "ann/p/r1", 3)
    assert item["values"] == {"parent": "ann/p/r1"}
    without = filled.get(RUNS, filter=json.dumps({"parent": None}), sort="id")
    assert names(without) == ["r0", "r1", "r2", "r3", "r4"]
    assert "parent" in filled.get("/projects/ann/p/fields")["own"]


def test_figures_of_metrics_are_sorted_filtered_shown_and_exported(table: Table) -> None:
    for run, losses in {"a": [5.0, 1.0], "b": [2.0, 3.0], "c": []}.items():
        table.add(run, rows=[{"train/loss": loss} for loss in losses])
    answer = table.get(RUNS, sort="-min(train/loss)", columns=["max(train/loss)"])
    assert names(answer) == ["b", "a", "c"]
    assert [item["values"]["max(train/loss)"] for item in answer["items"]] == [3.0, 5.0, None]
    assert answer["pending"] == 0
    assert names(table.get(RUNS, filter=json.dumps({"max(train/loss)": {"$gt": 4}}))) == ["a"]
    (group,) = table.get("/projects/ann/p/groups", by=["state"], metrics=["min(train/loss)"])["items"]
    assert group["metrics"]["min(train/loss)"]["min"] == 1.0
    export = "/projects/ann/p/export"
    lines = table.ask("GET", export, params={"columns": ["id", "mean(train/loss)"], "sort": "min(train/loss)"}).text
    assert lines.split() == ["id,mean(train/loss)", "a,3.0", "b,2.5", "c,"]
    assert table.ask("GET", RUNS, params={"sort": "median(train/loss)"}).status_code == 400


def test_pages_go_on(filled: Table) -> None:
    seen, cursor = [], ""
    while True:
        answer = filled.get(RUNS, sort="config.lr", limit=2, cursor=cursor)
        seen += names(answer)
        cursor = answer["cursor"]
        if cursor is None:
            break
    assert seen == ["r0", "r1", "r2", "r3", "r4"]


def test_columns_are_picked(filled: Table) -> None:
    asked = ["config.nested.depth", "summary_metrics.acc", "runtime", "state", "config.none", "tags"]
    answer = filled.get(RUNS, columns=asked, sort="id", limit=1)
    (item,) = answer["items"]
    assert item["values"] == {
        "config.nested.depth": 0,
        "summary_metrics.acc": 1.0,
        "runtime": 1.0,
        "state": "finished",
        "config.none": None,
        "tags": ["even"],
    }
    assert item["config"] is None


def test_not_a_number_can_be_asked_for(filled: Table) -> None:
    assert names(filled.get(RUNS, filter='{"summary.acc": NaN}')) == ["r3"]


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"filter": "{"}, 400),
        ({"filter": "[]"}, 400),
        ({"filter": '{"nonsense": 1}'}, 400),
        ({"filter": '{"config.a": "\\ud800"}'}, 400),
        ({"filter": "[" * 5000}, 400),
        ({"filter": '{"$not":' * 3000 + "{}" + "}" * 3000}, 400),
        ({"filter": '{"name": {"$regex": "(("}}'}, 400),
        ({"sort": "nonsense"}, 400),
        ({"sort": "-"}, 400),
        ({"columns": "nonsense"}, 400),
        ({"cursor": "abc"}, 400),
        ({"group": "state"}, 400),
        ({"group": "state", "group_key": "???"}, 400),
        ({"limit": 0}, 422),
        ({"limit": 5000}, 422),
        ({"unknown": 1}, 422),
        ({"deleted": "perhaps"}, 422),
    ],
)
def test_what_makes_no_sense_is_said(filled: Table, params: dict[str, Any], status: int) -> None:
    answer = filled.ask("GET", RUNS, params=params)
    assert answer.status_code == status, answer.text
    assert answer.json()["detail"]


def test_a_cursor_of_another_filter_is_refused(filled: Table) -> None:
    cursor = filled.get(RUNS, limit=1)["cursor"]
    answer = filled.ask("GET", RUNS, params={"cursor": cursor, "filter": '{"state": "failed"}'})
    assert answer.status_code == 400
    assert "another filter" in answer.json()["detail"]


def test_groups_and_their_runs(filled: Table) -> None:
    answer = filled.get("/projects/ann/p/groups", by=["config.opt"], metrics=["summary.acc"])
    assert [(group["values"], group["num_runs"]) for group in answer["items"]] == [(["sgd"], 3), (["adam"], 2)]
    sgd, adam = answer["items"]
    assert sgd["metrics"]["summary.acc"] == pytest.approx(
        {"count": 3, "num_nan": 0, "mean": 0.8, "min": 0.6, "max": 1.0, "std": 0.2}
    )
    assert adam["metrics"]["summary.acc"]["num_nan"] == 1
    assert names(filled.get(RUNS, group=["config.opt"], group_key=sgd["key"], sort="id")) == ["r0", "r2", "r4"]


def test_fields_and_texts(filled: Table) -> None:
    answer = filled.get("/projects/ann/p/fields", prefix="config.", limit=2)
    assert [field["name"] for field in answer["items"]] == ["config.lr", "config.nested"]
    assert (answer["items"][0]["min"], answer["items"][0]["max"]) == (0.0, 0.4)
    rest = filled.get("/projects/ann/p/fields", prefix="config.", limit=3, cursor=answer["cursor"])
    assert [field["name"] for field in rest["items"]] == ["config.nested.depth", "config.opt"]
    assert "state" in filled.get("/projects/ann/p/fields", contains="STAT")["own"]
    assert filled.get("/projects/ann/p/fields/texts", field="config.opt")["items"] == ["adam", "sgd"]


def test_one_run(table: Table) -> None:
    table.add("r", config={"a": 1}, rows=[{"loss": 1.0}, {"loss": 0.5}], attributes={"os": "Linux"})
    answer = table.ask("GET", "/runs/ann/p/r")
    found = answer.json()
    assert (found["state"], found["config"], found["summary"]) == ("finished", {"a": 1}, {"loss": 0.5})
    assert (found["keys"], found["num_rows"], found["metadata"]) == (["loss"], 2, {"os": "Linux"})
    assert [(one["number"], one["state"], one["host"]) for one in found["attempts"]] == [(1, "finished", "node")]
    again = table.ask("GET", "/runs/ann/p/r", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


def test_an_edit_counts_at_once_and_in_the_list(filled: Table) -> None:
    change = {
        "name": "better",
        "tags": ["good", "x"],
        "notes": "a\nb",
        "group": "g",
        "config": {"lr": 7, "new": {"a": [1]}},
        "config_removed": ["opt"],
        "summary": {"acc": 2},
    }
    filled.stage.clock.now_ns += SECOND
    answer = filled.ask("PATCH", "/runs/ann/p/r1", json=change)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert (found["name"], found["tags"], found["notes"], found["group"]) == ("better", ["good", "x"], "a\nb", "g")
    assert found["config"] == {"lr": 7, "nested": {"depth": 1}, "new": {"a": [1]}}
    assert found["summary"] == {"acc": 2}
    filled.stage.store.settler.settle()
    wanted = {"tags": "good", "config.lr": 7, "config.opt": {"$exists": False}, "group": "g", "summary.acc": 2}
    assert names(filled.get(RUNS, filter=json.dumps(wanted))) == ["r1"]
    filled.stage.clock.now_ns += 1
    assert filled.ask("PATCH", "/runs/ann/p/r1", json={"group": None}).json()["group"] is None


def test_an_edit_counts_although_the_run_is_ahead_of_the_servers_clock(table: Table) -> None:
    table.stage.clock.now_ns += 100 * SECOND
    table.add("r", attributes={"name": "old"}, config={"a": 1}, rows=[{"loss": 1.0}, {"loss": 2.0}])
    table.stage.clock.now_ns -= 100 * SECOND
    change = {"name": "new", "config": {"a": 2}, "summary": {"loss": 9}}
    found = table.ask("PATCH", "/runs/ann/p/r", json=change).json()
    assert (found["name"], found["config"], found["summary"]) == ("new", {"a": 2}, {"loss": 9})
    again = table.ask("PATCH", "/runs/ann/p/r", json={"name": "newer"}).json()
    assert again["name"] == "newer"


def test_an_edit_that_cannot_be_is_refused(filled: Table) -> None:
    for body in ({"tags": "good"}, {"colour": 1}, {"name": "a\0b"}, {"tags": ["a\0"]}):
        assert filled.ask("PATCH", "/runs/ann/p/r1", json=body).status_code == 422, body
    assert filled.ask("PATCH", "/runs/ann/p/none", json={"name": "x"}).status_code == 404


def test_delete_and_undo(filled: Table) -> None:
    assert filled.ask("DELETE", "/runs/ann/p/r1").status_code == 204
    assert filled.ask("DELETE", "/runs/ann/p/r1").status_code == 404
    assert filled.ask("GET", "/runs/ann/p/r1").status_code == 404
    assert filled.get("/runs/ann/p/r1", deleted=True)["deleted_ns"] is not None
    assert "r1" not in names(filled.get(RUNS))
    assert names(filled.get(RUNS, deleted="only")) == ["r1"]
    assert filled.ask("POST", "/runs/ann/p/r1/restore").json()["deleted_ns"] is None
    assert "r1" in names(filled.get(RUNS))


def test_a_wish_to_stop_reaches_the_run(table: Table) -> None:
    table.add("r", ended=None)
    assert table.ask("POST", "/runs/ann/p/r/stop").json()["stop_by"] == "ann"
    answer = table.ask("POST", "/heartbeat", json={"runs": ["ann/p/r"]})
    assert answer.json()["stop"] == ["ann/p/r"]


def test_a_run_that_is_over_cannot_be_stopped(filled: Table) -> None:
    answer = filled.ask("POST", "/runs/ann/p/r1/stop")
    assert (answer.status_code, "nothing left to stop" in answer.json()["detail"]) == (409, True)
    assert filled.get("/runs/ann/p/r1")["stop_by"] is None


def test_strangers_see_nothing_and_readers_change_nothing(filled: Table) -> None:
    filled.ask("PATCH", "/projects/ann/p", json={"access": "private"})
    stranger = filled.stage.key("eve")
    for path in (RUNS, "/projects/ann/p/groups?by=state", "/projects/ann/p/fields", "/runs/ann/p/r1"):
        assert filled.ask("GET", path, key=stranger).status_code == 404, path
    body = {"runs": ["ann/p/r1", "ann/p/r2"]}
    assert filled.ask("POST", "/diff", json=body, key=stranger).status_code == 404
    assert filled.ask("GET", "/projects/ann/p/export", key=stranger).status_code == 404
    reader = filled.stage.key("ann", "read")
    assert filled.ask("GET", RUNS, key=reader).status_code == 200
    for method, path in (("PATCH", "/runs/ann/p/r1"), ("DELETE", "/runs/ann/p/r1"), ("POST", "/runs/ann/p/r1/stop")):
        keywords = {"json": {"name": "x"}} if method == "PATCH" else {}
        assert filled.ask(method, path, key=reader, **keywords).status_code == 403, path


def test_a_project_that_is_not_there(table: Table) -> None:
    for path in ("/projects/ann/none/runs", "/projects/ann/none/fields", "/projects/ann/none", "/runs/ann/none/r"):
        assert table.ask("GET", path).status_code == 404, path
