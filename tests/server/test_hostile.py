"""What somebody who means harm can do with a key, or with none: cost others little, see and keep nothing."""

from __future__ import annotations

import asyncio
import io
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from strobe.api.jsonable import MAX_DEPTH
from strobe.server.live import stream as stream_module
from strobe.server.log import open_log
from strobe.server.routes import series
from strobe.store import history
from strobe.store.blobs import open_blobs
from strobe.store.sqlite import SqliteDatabase
from strobe.wire import BATCHES
from tests.server.conftest import Stage
from tests.server.test_ingest import batch_of, send
from tests.server.world import Request, World, build


@pytest.fixture
def world(stage: Stage) -> World:
    return build(stage)


def nested(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize("depth", [100, 500, 900, 5000])
def test_what_is_nested_deep_is_refused_or_shown(world: World, depth: int) -> None:
    run, json = "/api/v1/runs/ada/private/r", {"content-type": "application/json"}
    for section in ("config", "summary"):
        body = f'{{"{section}":{{"x":{nested(depth)}}}}}'
        answer = world.ask("owner", Request("PATCH", run, {"content": body, "headers": json}))
        assert answer.status_code in (200, 400, 422), answer.text
    world.stage.store.settler.settle()
    assert world.ask("owner", Request("GET", run)).status_code == 200
    assert world.ask("owner", Request("GET", "/api/v1/projects/ada/private/runs")).status_code == 200
    exported = Request("GET", f"{run}/export", {"params": {"format": "jsonl"}})
    assert world.ask("owner", exported).status_code == 200


def test_deep_values_are_cut_where_nobody_reads_on(world: World) -> None:
    body = f'{{"config":{{"x":{nested(MAX_DEPTH + 50)}}}}}'
    sent = {"content": body, "headers": {"content-type": "application/json"}}
    found: Any = world.ask("owner", Request("PATCH", "/api/v1/runs/ada/private/r", sent)).json()["config"]["x"]
    depth = 0
    while isinstance(found, dict):
        found, depth = found["a"], depth + 1
    assert found == "…"
    assert depth < MAX_DEPTH


def test_signed_links_are_not_in_the_log(world: World) -> None:
    text = io.StringIO()
    log = open_log("json", text, name="strobe.server")
    try:
        goal = {"kind": "file", "entity": "ada", "project": "private", "run": "r", "path": "a.txt"}
        made = world.ask("owner", Request("POST", "/api/v1/links", {"json": {"method": "GET", "goal": goal}}))
        url = made.json()["url"]
        assert world.ask(None, Request("GET", url)).content == b"alpha"
    finally:
        log.handlers.clear()
    assert "/api/v1/links/****" in text.getvalue()
    assert url.rpartition("/")[2] not in text.getvalue()


def test_one_request_does_not_fill_the_memory(world: World) -> None:
    asked = {"runs": ["ada/public/r"], "keys": [f"k{n}" for n in range(1000)], "format": "json"}
    for pixels, status in ((series.MAX_BUCKETS // 1000, 200), (20_000, 422)):
        answer = world.ask(None, Request("POST", "/api/v1/series", {"json": {**asked, "pixels": pixels}}))
        assert answer.status_code == status, answer.text


def test_wide_rows_come_in_shorter_pages(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_CELLS", 100)
    rows = [{"a": 1.0, "b": 2.0, "text": "x" * 640} for _ in range(50)]
    key = stage.key("ann")
    send(stage, batch_of(rows), key=key)
    steps, cursor, pages = [], 0, 0
    while cursor is not None:
        asked = {"cursor": str(cursor), "limit": "40"}
        page = stage.ask("GET", "/api/v1/runs/ann/p/r/history", params=asked, key=key).json()
        steps += [row["_step"] for row in page["items"]]
        cursor, pages = page["cursor"], pages + 1
    assert steps == list(range(50))
    assert pages > 5


def test_why_an_alert_was_not_delivered_is_for_who_may_write(world: World) -> None:
    world.stage.services.courier.deliver_due()
    path = "/api/v1/projects/ada/public/alerts"
    (told,) = world.ask("writer", Request("GET", path)).json()["items"][0]["deliveries"]
    assert "127.0.0.1" in told["error"]
    for who in (None, "outsider"):
        for address in (path, "/api/v1/runs/ada/public/r/alerts"):
            (told,) = world.ask(who, Request("GET", address)).json()["items"][0]["deliveries"]
            assert (told["state"], told["error"]) == ("pending", "")


def test_sinks_are_tried_a_few_at_a_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    services, busy = world.stage.services, []

    async def use(client: Any) -> list[int]:
        held = asyncio.get_running_loop()
        going = asyncio.Event()

        def wait(delivery: object) -> str:
            busy.append(1)
            asyncio.run_coroutine_threadsafe(going.wait(), held).result()
            return ""

        monkeypatch.setattr(services.courier, "try_once", wait)
        path = f"/api/v1/projects/ada/private/alert-sinks/{world.ids['private']['sink']}/test"
        headers = {"Authorization": f"Bearer {world.keys['owner']}"}
        asked = [asyncio.create_task(client.post(path, headers=headers)) for _ in range(10)]
        while sum(task.done() for task in asked) < 6:
            await asyncio.sleep(0.01)
        going.set()
        return sorted(answer.status_code for answer in await asyncio.gather(*asked))

    assert world.stage.run(use) == [200] * 4 + [429] * 6
    assert len(busy) == 4


def test_a_stream_ends_with_the_right_to_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams as the application sends them: the client of the other tests waits for the end of an answer."""
    monkeypatch.setattr(stream_module, "CHECK_S", 0.05)
    accounts = world.stage.store.accounts

    def revoke() -> None:
        accounts.keys.revoke(world.keys["reader"].split("_")[1])

    def close() -> None:
        world.stage.store.projects.change("ada", "team", access="private")

    for who, project, change in (("reader", "private", revoke), ("outsider", "team", close)):
        told = asyncio.run(_watch(world, who, project, change))
        assert told.endswith(b'event: end\ndata: {"reason":"denied"}\n\n'), told


async def _watch(world: World, who: str, project: str, change: Any) -> bytes:
    sent: list[bytes] = []
    scope = {
        "type": "http", "method": "GET", "path": "/api/v1/live", "query_string": f"project=ada/{project}".encode(),
        "headers": [(b"host", b"localhost"), (b"authorization", f"Bearer {world.keys[who]}".encode())],
        "client": ("127.0.0.1", 1), "server": ("localhost", 80), "scheme": "http", "http_version": "1.1",
        "root_path": "", "raw_path": b"/api/v1/live",
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send_(message: Any) -> None:
        if message["type"] == "http.response.body":
            sent.append(message["body"])
            if b"hello" in message["body"]:
                assert world.stage.services.metrics.streams.value() == 1
                change()

    await asyncio.wait_for(world.stage.app(scope, receive, send_), 10)
    await world.stage.services.live.close()
    return b"".join(sent)


def test_a_heartbeat_counts_for_the_runs_that_may_be_written_to(stage: Stage) -> None:
    key = stage.key("ann")
    send(stage, batch_of([{"x": 1.0}]), key=key)
    stage.key("bob")
    stage.project("bob", "secret", "private")
    stage.clock.now_ns += 10**9
    sent = {"runs": ["bob/secret/r", "ann/p/r", "ann/p/none"]}
    assert stage.ask("POST", "/api/v1/heartbeat", json=sent, key=key).json() == {"stop": []}
    assert stage.ask("GET", "/api/v1/runs/ann/p/r", key=key).json()["heartbeat_ns"] == stage.clock()


@pytest.mark.skipif(os.name != "posix", reason="modes of files are a matter of POSIX")
def test_what_a_store_keeps_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        database = SqliteDatabase(tmp_path / "server" / "strobe.db")
        database.write(lambda cursor: cursor.run("CREATE TABLE t (x INTEGER)"))
        open_blobs(tmp_path / "blobs").put("sha256/aa/b", [b"secret"])
        modes = {
            path.name: stat.S_IMODE(path.stat().st_mode)
            for path in (tmp_path / "blobs", tmp_path / "server", *(tmp_path / "server").iterdir())
        }
        database.close()
    finally:
        os.umask(before)
    assert modes.pop("blobs") == modes.pop("server") == 0o700
    assert set(modes) == {"strobe.db", "strobe.db-wal", "strobe.db-shm"}
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize(
    ("method", "path", "options"),
    [
        ("POST", "/api/v1/ingest", {"content": b"", "headers": {"content-type": BATCHES}}),
        ("PUT", "/api/v1/runs/local/p/r/files/a", {"content": b"x"}),
        ("DELETE", "/api/v1/runs/local/p/r/files/a", {}),
        ("POST", "/api/v1/runs/local/p/r/uploads", {"json": {"path": "a", "size": 1, "sha256": "a" * 64}}),
    ],
)
def test_a_home_does_not_take_what_it_would_lose(local: Stage, method: str, path: str, options: dict[str, Any]) -> None:
    answer = local.ask(method, path, **options)
    assert (answer.status_code, "`strobe ui` shows" in answer.json()["detail"]) == (403, True)
