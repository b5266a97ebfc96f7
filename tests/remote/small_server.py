"""A small real server that keeps the ingest rule in memory, and can be told to misbehave.

It speaks HTTP on a socket of its own, so whatever a client does with time-outs, proxies and broken connections is real.
"""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from strobe.journal.reader import decode_event
from strobe.journal.value import decode
from strobe.wire.batch import Batch, BatchStream

#: called with the handler before a request is answered; True means that it has dealt with the request
Fault = Callable[["Handler"], bool]


class SmallServer:
    """Per (run, writer): the offset, and everything that was taken."""

    def __init__(self, *, key: str | None = None, limits: dict[str, int] | None = None) -> None:
        self.key = key
        self.limits = limits or {}
        self.lock = threading.Lock()
        self.next: dict[tuple[str, str], int] = {}
        #: (run, writer, record) → how often it was taken
        self.taken: Counter[tuple[str, str, int]] = Counter()
        #: (run, writer, record) → (step, {key: value}) of rows; events as they are
        self.rows: dict[tuple[str, str, int], tuple[int, dict[str, Any]]] = {}
        self.orders: dict[tuple[str, str, int], int] = {}
        self.events: list[Any] = []
        self.requests: list[tuple[str, str]] = []
        self.keys_seen: set[str] = set()
        self.heartbeats: list[list[str]] = []
        self.stop: list[str] = []
        self.refuse: str | None = None
        self.arrived_at: dict[tuple[str, str, int], float] = {}
        self.faults: list[Fault] = []
        self.identity: dict[str, Any] = {"server": "strobe", "version": "0", "protocols": [1, 1], "auth": False}
        self._http: ThreadingHTTPServer | None = None
        self.port = 0

    def start(self, port: int = 0) -> str:
        state = self

        class Bound(Handler):
            server_state = state

        self._http = _Server(("127.0.0.1", port), Bound)
        self.port = self._http.server_address[1]
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self.url

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop_serving(self) -> None:
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http = None

    def ingest(self, batches: list[Batch]) -> dict[str, Any]:
        acks = []
        with self.lock:
            for batch in batches:
                acks.append(self._ingest_one(batch))
        return {"acks": acks, "stop": self.stop}

    def _ingest_one(self, batch: Batch) -> dict[str, Any]:
        run = f"{'me' if batch.entity == 'local' else batch.entity}/{batch.project}/{batch.run}"
        at = (run, batch.writer)
        following = self.next.get(at, 0)
        ack = {"run": run, "writer": batch.writer, "next": following}
        if self.refuse:
            return ack | {"status": "refused", "reason": self.refuse}
        if batch.first > following:
            return ack | {"status": "gap"}
        if batch.until <= following:
            return ack | {"status": "duplicate"}
        for block in batch.blocks:
            self._take_block(run, batch.writer, block, following)
        for note in batch.notes:
            if note.sequence >= following:
                self.taken[run, batch.writer, note.sequence] += 1
                self.orders[run, batch.writer, note.sequence] = note.order_ns
                self.events.append((batch.writer, decode_event(note.event)))
        self.next[at] = batch.until
        return ack | {"status": "stored", "next": batch.until}

    def _take_block(self, run: str, writer: str, block: Any, following: int) -> None:
        sequences = memoryview(block.sequences).cast("q")
        steps = memoryview(block.steps).cast("q")
        orders = memoryview(block.orders or block.times).cast("q")
        columns = [
            decode(column.cells) if column.kind == "m" else list(memoryview(column.cells).cast(column.kind))
            for column in block.columns
        ]
        for place, (sequence, step) in enumerate(zip(sequences, steps, strict=True)):
            if sequence >= following:
                name = (run, writer, sequence)
                self.taken[name] += 1
                self.arrived_at[name] = time.monotonic()
                self.orders[name] = orders[place]
                values = {key: cells[place] for key, cells in zip(block.keys, columns, strict=True)}
                self.rows[name] = (step, values)

    def values(self, key: str) -> list[Any]:
        """Return the values of a key by step."""
        with self.lock:
            found = sorted((step, values[key]) for step, values in self.rows.values() if key in values)
        return [value for _, value in found]

    def assert_exactly_once(self) -> None:
        with self.lock:
            assert [name for name, count in self.taken.items() if count != 1] == []


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # clients that go away in the middle are part of the tests


class Handler(BaseHTTPRequestHandler):
    server_state: SmallServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for the client's acknowledgement of its headers

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def do_PUT(self) -> None:
        self._handle()

    def _handle(self) -> None:
        state = self.server_state
        with state.lock:
            state.requests.append((self.command, self.path))
            if given := self.headers.get("Authorization"):
                state.keys_seen.add(given)
            fault = state.faults.pop(0) if state.faults else None
        if fault is not None and fault(self):
            return
        body = self.body()
        if self.path == "/api/v1/server":
            self.answer(200, {**state.identity, "limits": state.limits})
        elif state.key is not None and self.headers.get("Authorization") != f"Bearer {state.key}":
            self.answer(401, {"title": "Who are you?", "detail": "this key is not known here"})
        elif self.path == "/api/v1/ingest":
            self.answer(200, state.ingest(self.batches(body)))
        elif self.path == "/api/v1/heartbeat":
            with state.lock:
                state.heartbeats.append(json.loads(body)["runs"])
            self.answer(200, {"stop": state.stop})
        else:
            self.answer(404, {"detail": f"no {self.path} here"})

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def batches(self, body: bytes) -> list[Batch]:
        encoding = self.headers["Content-Encoding"]
        assert encoding in ("gzip", "identity")
        stream = BatchStream(max_bytes=64 << 20)
        found = list(stream.feed(zlib.decompress(body, 31) if encoding == "gzip" else body))
        stream.close()
        return found

    def answer(self, status: int, content: Any, **headers: str) -> None:
        text = json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


# -- ways to misbehave -----------------------------------------------------------------------------------------------


def fails(status: int, **headers: str) -> Fault:
    """Answer with an error, having done nothing."""

    def fault(handler: Handler) -> bool:
        handler.body()
        handler.answer(status, {"detail": f"a fault, {status}"}, **headers)
        return True

    return fault


def drops(handler: Handler) -> bool:
    """Take the request in, then close the connection without an answer."""
    body = handler.body()
    if handler.path == "/api/v1/ingest":
        handler.server_state.ingest(handler.batches(body))
    handler.close_connection = True
    with suppress(OSError):
        handler.connection.shutdown(2)
    return True


def truncates(handler: Handler) -> bool:
    """Do it, and send half of the answer."""
    body = handler.body()
    content = {"server": "strobe"}
    if handler.path == "/api/v1/ingest":
        content = handler.server_state.ingest(handler.batches(body))
    text = json.dumps(content).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(text)))
    handler.end_headers()
    handler.wfile.write(text[: len(text) // 2])
    handler.wfile.flush()
    handler.close_connection = True
    return True


def hangs(seconds: float) -> Fault:
    """Accept and say nothing for so long."""

    def fault(handler: Handler) -> bool:
        time.sleep(seconds)
        handler.close_connection = True
        return True

    return fault
