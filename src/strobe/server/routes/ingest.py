"""The way in: batches of what runs log, and signs of life.

A body is taken apart as it streams in; each batch is committed before the next is looked at, so what a broken
connection had delivered is there, and the sender finds out by the offsets of the next answer.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Annotated

import msgspec

from strobe.errors import UsageError
from strobe.home import RunPath
from strobe.server.endpoint import Call, endpoint
from strobe.server.fields import PathText
from strobe.server.problem import Problem
from strobe.store.ingest import Taken
from strobe.wire import BATCHES
from strobe.wire.batch import Ack, Batch, BatchStream, Receipt

_MAX_BATCHES = 10_000


class Living(msgspec.Struct, kw_only=True):
    """Runs whose processes live."""

    runs: Annotated[list[PathText], msgspec.Meta(max_length=10_000)]


class Wishes(msgspec.Struct, kw_only=True):
    """Runs among them that somebody wants to stop."""

    stop: list[str]


@endpoint(
    "POST",
    "/api/v1/ingest",
    access="write",
    tag="ingest",
    consumes=BATCHES,
    returns=Receipt,
    max_bytes=lambda limits: limits.request_bytes,
)
async def ingest(call: Call) -> Receipt:
    """Take in a stream of batches, each at most once.

    The answer has an ack for each batch, in order, which says up to where the server has what its writer wrote.
    """
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != BATCHES:
        raise Problem(415, detail=f"the body is {kind or 'of no stated type'}; send {BATCHES}")
    services = call.services
    call.refuse_at_home("batches")
    with services.gate.enter() as place:
        began = time.monotonic()
        reception = _Reception(call)
        stream = BatchStream(max_bytes=services.settings.limits.batch_bytes)
        async for piece in call.stream():
            place.hold(stream.num_held + len(piece))
            for batch in stream.feed(piece):
                await reception.take(batch)
        stream.close()
        services.gate.note(time.monotonic() - began)
    services.metrics.ingest_bytes.add(reception.num_bytes)
    return await reception.receipt()


class _Reception:
    """What becomes of the batches of one request."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._allowed: dict[tuple[str, str], str] = {}
        self._runs: dict[RunPath, None] = {}
        self.acks: list[Ack] = []
        call.note_checked()

    @property
    def num_bytes(self) -> int:
        length = self._call.request.headers.get("content-length", "")
        return int(length) if length.isdecimal() else 0

    async def take(self, sent: Batch) -> None:
        call = self._call
        if len(self.acks) >= _MAX_BATCHES:
            raise Problem(413, detail=f"more than {_MAX_BATCHES} batches in one request; send fewer at a time")
        batch = msgspec.structs.replace(sent, entity=call.entity(sent.entity))
        reason = await self._refusal(batch)
        if reason:
            self._note(Ack(run=str(batch.path), writer=batch.writer, next=0, status="refused", reason=reason))
            return
        now_ns = call.services.clock()
        taken: Taken = await call.in_thread(call.services.store.ingest.take, batch, now_ns=now_ns)
        self._runs[batch.path] = None
        self._note(taken.ack)
        if taken.ack.status == "stored":
            call.services.live.nudge()
            metrics = call.services.metrics
            metrics.ingest_rows.add(taken.num_rows)
            metrics.ingest_points.add(taken.num_points)
            if taken.time_ns:
                metrics.ingest_lag_seconds.observe(max(0.0, (now_ns - taken.time_ns) / 1e9))

    async def receipt(self) -> Receipt:
        call = self._call
        stop: list[RunPath] = []
        if self._runs:
            stop = await call.in_thread(call.services.store.runs.asked_to_stop, list(self._runs))
        return Receipt(acks=self.acks, stop=[str(path) for path in stop])

    def _note(self, ack: Ack) -> None:
        self._call.services.metrics.ingest_batches.add(1, ack.status)
        self.acks.append(ack)

    async def _refusal(self, batch: Batch) -> str:
        """Return why the caller may not write to the batch's project, or nothing; asked once for each project."""
        name = (batch.entity, batch.project)
        if name not in self._allowed:
            try:
                await self._call.require("write", *name)
                self._allowed[name] = ""
            except Problem as problem:
                self._allowed[name] = problem.detail
        return self._allowed[name]


@endpoint("POST", "/api/v1/heartbeat", access="write", tag="ingest", body=Living, returns=Wishes)
async def heartbeat(call: Call, body: Living) -> Wishes:
    """Say that the processes of runs live, and hear which of them should stop.

    Runs that the server does not have, or the caller may not write to, are passed over: one sender speaks for many.
    """
    paths: defaultdict[tuple[str, str], list[RunPath]] = defaultdict(list)
    for text in body.runs:
        try:
            found = RunPath.parse(text)
        except UsageError as error:
            raise Problem(422, detail=str(error)) from error
        path = RunPath(call.entity(found.entity), found.project, found.id)
        paths[path.entity, path.project].append(path)
    call.note_checked()
    allowed = [path for project, some in paths.items() if await call.may("write", *project) for path in some]
    stop = await call.in_thread(call.services.store.runs.note_alive, allowed, now_ns=call.services.clock())
    return Wishes(stop=[str(path) for path in stop])


ENDPOINTS = [ingest, heartbeat]
