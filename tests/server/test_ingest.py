"""The way in over HTTP, and the way back out as series and history."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from strobe.home import RunPath
from strobe.journal import event as ev
from strobe.journal import value
from strobe.journal.entry import Noted, Row
from strobe.journal.segment import Header
from strobe.store.store import Store, open_store
from strobe.wire import BATCHES
from strobe.wire.batch import Batch, encode_batch
from strobe.wire.pack import pack
from strobe.wire.series import decode_series
from tests.server.conftest import Clock, Parts, Stage

HEADER = Header(entity="local", project="p", run="r", writer="w1")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    store = open_store(f"sqlite:///{tmp_path}/strobe.db", tmp_path / "blobs")
    yield Stage(parts=cast(Parts, store), clock=Clock())
    store.close()


def store_of(stage: Stage) -> Store:
    return cast(Store, stage.parts)


def batch_of(rows: list[dict[str, Any]], *, first: int = 0, header: Header = HEADER, **options: Any) -> Batch:
    entries = [
        Row(
            first + n,
            first + n,
            10**18 + first + n,
            tuple(row),
            list(row.values()),
            False,
            10**18 + first + n,
            first + n,
        )
        for n, row in enumerate(rows)
    ]
    return pack(header, entries, first=first, until=first + len(rows))


def send(stage: Stage, *batches: Batch, key: str | None = None, packed: bool = True, **headers: str) -> Any:
    body = b"".join(map(encode_batch, batches))
    sent = {"content-type": BATCHES, **headers}
    if packed:
        body, sent["content-encoding"] = gzip.compress(body), "gzip"
    return stage.ask("POST", "/api/v1/ingest", content=body, key=key or stage.key("ann"), headers=sent)


def test_rows_come_back(stage: Stage) -> None:
    rows = [{"loss": 1.0 / (n + 1), "n": n, "word": f"w{n}"} for n in range(10)]
    answer = send(stage, batch_of(rows))
    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "acks": [{"run": "ann/p/r", "writer": "w1", "next": 10, "status": "stored", "reason": ""}],
        "stop": [],
    }
    history = stage.ask("GET", "/api/v1/runs/ann/p/r/history", key=stage.key("ann")).json()
    assert [{key: row[key] for key in ("loss", "n", "word")} for row in history["items"]] == rows
    assert history["cursor"] is None


def test_pages_of_the_history_join(stage: Stage) -> None:
    send(stage, batch_of([{"n": n} for n in range(25)]))
    key, found, cursor = stage.key("ann"), [], 0
    while cursor is not None:
        page = stage.ask("GET", f"/api/v1/runs/ann/p/r/history?limit=10&first=3&cursor={cursor}", key=key).json()
        found += [row["n"] for row in page["items"]]
        cursor = page["cursor"]
    assert found == list(range(25))


def test_twice_is_once_and_a_gap_is_refused(stage: Stage) -> None:
    first, second = batch_of([{"n": 1}] * 3), batch_of([{"n": 2}] * 3, first=3)
    statuses = [
        ack["status"]
        for batches in ((second,), (first,), (first, second), (second,))
        for ack in send(stage, *batches).json()["acks"]
    ]
    assert statuses == ["gap", "stored", "duplicate", "stored", "duplicate"]
    assert store_of(stage).runs.find(RunPath("ann", "p", "r")).num_rows == 6


def test_an_empty_batch_asks_for_the_offset(stage: Stage) -> None:
    send(stage, batch_of([{"n": 1}] * 3))
    (ack,) = send(stage, batch_of([])).json()["acks"]
    assert (ack["next"], ack["status"]) == (3, "duplicate")


def test_series_are_bytes_that_wrap(stage: Stage) -> None:
    values = [math.sin(n / 50) if n != 777 else math.nan for n in range(5000)]
    for start in range(0, 5000, 1000):
        send(stage, batch_of([{"loss": found} for found in values[start : start + 1000]], first=start))
    body = {"runs": ["ann/p/r"], "keys": ["loss"], "pixels": 100}
    answer = stage.ask("POST", "/api/v1/series", json=body, key=stage.key("ann"))
    assert answer.status_code == 200, answer.text
    ((facts, columns),) = decode_series(answer.content)
    assert facts["run"] == "ann/p/r"
    assert not facts["is_raw"]
    assert len(columns["min"]) <= 100
    assert sum(columns["count"]) == 5000
    assert sum(columns["nan"]) == 1
    finite = [found for found in values if not math.isnan(found)]
    assert min(columns["min"]) == min(finite)
    assert max(columns["max"]) == max(finite)
    again = stage.ask(
        "POST", "/api/v1/series", json=body, key=stage.key("ann"), headers={"if-none-match": answer.headers["etag"]}
    )
    assert again.status_code == 304
    zoomed = stage.ask(
        "POST", "/api/v1/series", json={**body, "first": 770, "last": 780, "format": "json"}, key=stage.key("ann")
    ).json()
    (curve,) = zoomed["series"]
    assert curve["is_raw"]
    assert curve["columns"]["step"] == list(range(770, 781))
    assert curve["columns"]["value"][7] == "NaN"


def test_digests(stage: Stage) -> None:
    send(stage, batch_of([{"loss": float(n)} for n in range(10)]))
    digest = stage.ask("GET", "/api/v1/runs/ann/p/r/digests", key=stage.key("ann")).json()["digests"]["loss"]
    assert (digest["count"], digest["min"], digest["max_step"], digest["mean"]) == (10, 0.0, 9, 4.5)


def test_digests_of_many_runs_and_the_keys_of_one(stage: Stage) -> None:
    other = Header(entity="local", project="p", run="other", writer="w1")
    send(stage, batch_of([{"loss": float(n), "note": "text"} for n in range(10)]))
    send(stage, batch_of([{"loss": -1.0, "acc": 0.5}], header=other))
    sampler = Header(entity="local", project="p", run="r", writer="s1", kind="system")
    send(stage, batch_of([{"cpu": 50.0}], header=sampler))
    asked = {"runs": ["ann/p/r", "ann/p/other"], "keys": ["loss", "acc"]}
    first, second = stage.ask("POST", "/api/v1/digests", json=asked, key=stage.key("ann")).json()["items"]
    assert (first["run"], first["digests"]["loss"]["max"], "acc" in first["digests"]) == ("ann/p/r", 9.0, False)
    assert (second["digests"]["loss"]["min"], second["digests"]["acc"]["count"]) == (-1.0, 1)
    keys = stage.ask("GET", "/api/v1/runs/ann/p/r/metrics", key=stage.key("ann")).json()["items"]
    assert [(key["lane"], key["key"], key["has_points"], key["has_objects"]) for key in keys] == [
        ("", "loss", True, False),
        ("", "note", False, True),
        ("s1", "cpu", True, False),
    ]
    shared = stage.ask("POST", "/api/v1/metrics", json={"runs": asked["runs"]}, key=stage.key("ann")).json()["items"]
    assert [(key["key"], key["is_system"], key["has_points"], key["num_runs"]) for key in shared] == [
        ("acc", False, True, 1),
        ("loss", False, True, 2),
        ("note", False, False, 1),
        ("cpu", True, True, 1),
    ]


def test_the_keys_of_a_run_say_what_is_better_and_who_sampled_the_system(stage: Stage) -> None:
    said = [Noted(0, ev.Metric(time_ns=10**18, name="val/*", summary=["max"]), 10**18)]
    send(stage, pack(HEADER, said, first=0, until=1))
    rows = [{"val/x": 1.0, "train/loss": 1.0, "lr": 0.1}]
    other = Header(entity="local", project="p", run="r", writer="w2", kind="rank", rank=1)
    send(stage, batch_of(rows, header=other))
    for number, (host, rank) in enumerate([("node-b", 1), ("node-a", 0), ("node-a", None)]):
        sampler = Header(entity="local", project="p", run="r", writer=f"s{number}", kind="system", host=host, rank=rank)
        send(stage, batch_of([{"cpu": 50.0}], header=sampler))
    answer = stage.ask("GET", "/api/v1/runs/ann/p/r/metrics", key=stage.key("ann")).json()
    goals = {key["key"]: (key["goal"], key["is_goal_guessed"]) for key in answer["items"]}
    assert goals == {
        "val/x": ("maximize", False),
        "train/loss": ("minimize", True),
        "lr": (None, False),
        "cpu": (None, False),
    }
    asked = {"runs": ["ann/p/r"], "goals": True}
    shared = stage.ask("POST", "/api/v1/metrics", json=asked, key=stage.key("ann")).json()["items"]
    assert {key["key"]: key["goal"] for key in shared} == {key: goal for key, (goal, _) in goals.items()}
    assert [(one["lane"], one["host"], one["rank"]) for one in answer["samplers"]] == [
        ("s1", "node-a", 0),
        ("s0", "node-b", 1),
        ("s2", "node-a", None),
    ]


def test_events_make_the_run(stage: Stage) -> None:
    events = [
        Noted(0, ev.Started(time_ns=10**18, attributes={"name": "first"}), 10**18),
        Noted(1, ev.Config(time_ns=10**18, changes={"lr": 0.1}), 10**18),
        Noted(2, ev.Ended(time_ns=10**18 + 5, state="finished"), 10**18 + 5),
    ]
    send(stage, pack(HEADER, events, first=0, until=3))
    view = store_of(stage).runs.get(RunPath("ann", "p", "r"))
    assert (view.row.state, view.config, view.attributes["name"]) == ("finished", {"lr": 0.1}, "first")


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"\x05\0\0\0hello", 400, "not a batch"),
        (b"\xff\xff\xff\xff", 400, "at most"),
        (encode_batch(batch_of([{"a": 1}]))[:-3], 400, "ends inside a batch"),
    ],
)
def test_nonsense_is_a_clear_400(stage: Stage, body: bytes, status: int, words: str) -> None:
    answer = stage.ask("POST", "/api/v1/ingest", content=body, key=stage.key("ann"), headers={"content-type": BATCHES})
    assert answer.status_code == status
    assert words in answer.json()["detail"]


def test_what_came_before_a_cut_is_kept(stage: Stage) -> None:
    whole = encode_batch(batch_of([{"a": 1}])) + encode_batch(batch_of([{"a": 2}], first=1))
    answer = stage.ask(
        "POST", "/api/v1/ingest", content=whole[:-3], key=stage.key("ann"), headers={"content-type": BATCHES}
    )
    assert answer.status_code == 400
    (ack,) = send(stage, batch_of([])).json()["acks"]
    assert ack["next"] == 1


def test_somebody_elses_project_is_refused_and_the_rest_is_taken(stage: Stage) -> None:
    stage.key("bob")
    foreign = Header(entity="bob", project="secret", run="r", writer="w")
    stage.project("bob", "secret", "private")
    answer = send(stage, batch_of([{"a": 1}], header=foreign), batch_of([{"a": 1}]))
    assert [ack["status"] for ack in answer.json()["acks"]] == ["refused", "stored"]
    assert "secret" in answer.json()["acks"][0]["reason"]


def test_a_deleted_run_is_refused(stage: Stage) -> None:
    send(stage, batch_of([{"a": 1}]))
    path = RunPath("ann", "p", "r")
    store_of(stage).runs.delete(path, now_ns=1)
    (ack,) = send(stage, batch_of([{"a": 1}], first=1)).json()["acks"]
    assert ack["status"] == "refused"
    assert "deleted" in ack["reason"]
    store_of(stage).runs.undelete(path, now_ns=2)
    (ack,) = send(stage, batch_of([{"a": 1}], first=1)).json()["acks"]
    assert ack["status"] == "stored"


def test_a_heartbeat_hears_of_a_wish_to_stop(stage: Stage) -> None:
    send(stage, batch_of([{"a": 1}]))
    store_of(stage).runs.request_stop(RunPath("ann", "p", "r"), by="ann", now_ns=1)
    answer = stage.ask("POST", "/api/v1/heartbeat", json={"runs": ["local/p/r", "local/p/other"]}, key=stage.key("ann"))
    assert answer.json() == {"stop": ["ann/p/r"]}
    assert send(stage, batch_of([])).json()["stop"] == ["ann/p/r"]


def test_a_silent_run_is_called_crashed_until_it_speaks(stage: Stage) -> None:
    path = RunPath("ann", "p", "r")
    started = Noted(0, ev.Started(time_ns=10**18), 10**18)
    send(stage, pack(HEADER, [started], first=0, until=1))
    runs = store_of(stage).runs
    minute = 60 * 10**9
    assert runs.bury(silent_for_ns=minute, now_ns=stage.clock() + minute // 2) == []
    assert [row.name for row in runs.bury(silent_for_ns=minute, now_ns=stage.clock() + 2 * minute)] == ["r"]
    assert runs.find(path).state == "crashed"
    send(stage, batch_of([{"a": 1}], first=1))
    assert runs.find(path).state == "running"


def test_values_of_every_kind(stage: Stage) -> None:
    rows = [
        {"v": item} for item in (1, 2.5, True, None, "text", 2**53 + 1, 2**70, [1, "a"], {"a": 1.5, "b": "x"}, math.inf)
    ]
    send(stage, batch_of(rows))
    found = stage.ask("GET", "/api/v1/runs/ann/p/r/history", key=stage.key("ann")).json()["items"]
    assert [row["v"] for row in found][:-1] == [row["v"] for row in rows][:-1]
    assert found[-1]["v"] == "Infinity"
    assert value.decode(value.encode_decoded(2**70)) == 2**70
