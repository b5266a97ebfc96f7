"""The live stream of real server processes: over HTTP, from a run that another process takes in, until a signal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from strobe.journal import Header
from strobe.journal import event as ev
from strobe.journal.entry import Entry, Noted, Row
from strobe.wire import BATCHES
from strobe.wire.batch import encode_batch
from strobe.wire.pack import pack
from tests.server.processes import Running, make_key, running

pytestmark = pytest.mark.slow

RUN = "ada/p/r"


class Client:
    """A sender of one run, and a reader of the stream."""

    def __init__(self, url: str, key: str) -> None:
        self.http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=20)
        self._next = 0

    def start(self) -> None:
        self._send(Noted(self._next, ev.Started(time_ns=time.time_ns()), time.time_ns()))

    def log(self, step: int, **values: float) -> None:
        now = time.time_ns()
        number = self._next
        self._send(Row(number, step, now, tuple(values), list(values.values()), order_ns=now, record=number))

    def _send(self, entry: Entry) -> None:
        header = Header(entity="ada", project="p", run="r", writer="w", attempt=1)
        body = encode_batch(pack(header, [entry], first=self._next, until=self._next + 1))
        self._next += 1
        answer = self.http.post("/api/v1/ingest", content=body, headers={"Content-Type": BATCHES})
        assert answer.json()["acks"][0]["status"] == "stored", answer.text

    @contextmanager
    def watch(self, query: str, last_id: str = "") -> Iterator[Iterator[tuple[str, dict[str, Any], str]]]:
        headers = {"Last-Event-ID": last_id} if last_id else {}
        with self.http.stream("GET", f"/api/v1/live?{query}", headers=headers) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield _events(answer)


def _events(answer: httpx.Response) -> Iterator[tuple[str, dict[str, Any], str]]:
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        if line:
            name, _, text = line.partition(": ")
            fields[name] = text
        elif fields:
            if "event" in fields:
                yield fields["event"], msgspec.json.decode(fields["data"]), fields.get("id", "")
            fields = {}


def _next(events: Iterator[tuple[str, dict[str, Any], str]], name: str) -> tuple[dict[str, Any], str]:
    return next((fields, place) for event, fields, place in events if event == name)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "home") as found:
        yield found


def test_a_point_reaches_a_subscriber_and_the_stream_ends_with_the_server(server: Running, tmp_path: Path) -> None:
    client = Client(server.url, make_key(tmp_path / "home"))
    client.start()
    with client.watch(f"runs={RUN}&keys=loss") as events:
        _next(events, "hello")
        client.log(1, loss=0.5)
        told, _ = _next(events, "series")
        assert (told["run"], told["steps"], told["values"]) == (RUN, [1], [0.5])
        summary = next(fields["summary"] for event, fields, _ in events if event == "run" and "summary" in fields)
        assert summary["loss"] == 0.5
        began = time.monotonic()
        server.process.terminate()
        told, _ = _next(events, "end")
        assert told["reason"] == "stopping"
        assert list(events) == []
    assert server.process.wait(20) == 0
    assert time.monotonic() - began < 10  # not the grace that requests get


def test_a_second_server_over_the_same_store_tells_the_same_and_takes_over(server: Running, tmp_path: Path) -> None:
    key = make_key(tmp_path / "home")
    client = Client(server.url, key)
    client.start()
    with running(tmp_path / "other", "--store", f"sqlite:///{tmp_path}/home/server/strobe.db") as second:
        other = Client(second.url, key)
        with client.watch("project=ada/p&keys=x") as first_events, other.watch("project=ada/p&keys=x") as second_events:
            _next(first_events, "hello")
            _next(second_events, "hello")
            client.log(1, x=1.0)
            told, place = _next(first_events, "series")
            assert told == _next(second_events, "series")[0]
        client.log(2, x=2.0)
        with client.watch("project=ada/p&keys=x", place) as events:  # back to the same server
            assert _next(events, "series")[0]["steps"] == [2]
        with other.watch("project=ada/p&keys=x", place) as events:  # or to another one
            assert _next(events, "reset")[0]["runs"] == [RUN]


def test_what_cannot_be_watched(server: Running, tmp_path: Path) -> None:
    client = Client(server.url, make_key(tmp_path / "home"))
    client.start()
    asked = {"": 422, "keys=a": 422, "runs=ada/p/none": 404, "project=ada/none": 404, "project=x": 400, "what=1": 422}
    assert {query: client.http.get(f"/api/v1/live?{query}").status_code for query in asked} == asked
    assert httpx.get(f"{server.url}/api/v1/live?runs={RUN}").status_code == 401
