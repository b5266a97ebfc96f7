"""What a server answers: descriptions, passes and its state. Runs on the event loop of the peer's network.

Checks every request from its header alone and lets it wait for the runtime; its values are looked at there, in the
thread that computes, and so is the answer put together. Only a small request to a quick expert, when nothing else
waits, is computed on the loop itself: handing it over would take longer.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
import torch

from strobe.swarm.experts import schema
from strobe.swarm.experts.backend import ExpertBackend
from strobe.swarm.experts.engine import Engine, Outcome, Stage
from strobe.swarm.experts.meter import Meter
from strobe.swarm.experts.work import Batch, Job, Pool, WorkQueue
from strobe.swarm.net.network import Caller, Network, Payload, PeerBusy, PeerRefused, Sendable
from strobe.swarm.tensors import (
    COMPRESSIONS,
    MalformedTensors,
    Message,
    NotFinite,
    decode,
    encode,
)

_MAX_ASKED = schema.MAX_DESCRIBED * 256
#: bytes of a request that may be computed on the loop
_SMALL = 32 << 10
_log = logging.getLogger("strobe.swarm.experts")


class _Promise(asyncio.Future[Sendable]):
    """The answer to a job that waits for its turn.

    Who gives it up takes the job out of the line: until its turn it would hold memory that the network counts as free
    already. (By a callback of a future, every answer would cost two microseconds more.)
    """

    __slots__ = ("job", "queue")

    queue: WorkQueue
    #: None when it is answered: each would keep the other, and what was sent with it, alive
    job: Job | None

    def cancel(self, msg: Any = None) -> bool:
        if not super().cancel(msg):
            return False
        if self.job is not None:
            self.queue.drop(self.job)
            self.job = None
        return True


class _Answer:
    """Where a job's result goes, and in which form."""

    __slots__ = ("compression", "future")

    def __init__(self, compression: str) -> None:
        self.compression = compression
        #: of a job that waits for its turn
        self.future: _Promise | None = None


class Service:
    """The handlers of one server."""

    def __init__(
        self,
        backends: Mapping[str, ExpertBackend],
        queue: WorkQueue,
        engine: Engine,
        meter: Meter,
        *,
        refuse_non_finite: bool = True,
        status: Callable[[], dict[str, Any]] = dict,
    ) -> None:
        self._backends = backends
        self._queue = queue
        self._engine = engine
        self._meter = meter
        self._stage = Stage()
        self._refuse_non_finite = refuse_non_finite
        self._status = status
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pools: dict[tuple[str, bool], Pool] = {
            (uid, is_backward): Pool(backend, is_backward)
            for uid, backend in backends.items()
            for is_backward in (False, True)
        }

    def attach(self, network: Network) -> None:
        """Begin to answer. On the network's loop."""
        self._loop = asyncio.get_running_loop()
        network.serve(schema.INFO, self._info, max_payload=_MAX_ASKED)
        network.serve(schema.FORWARD, functools.partial(self._pass, False))
        network.serve(schema.BACKWARD, functools.partial(self._pass, True))
        network.serve(schema.STATUS, lambda caller, payload: msgspec.json.encode(self._status()), max_payload=0)

    def detach(self, network: Network) -> None:
        """Answer nothing new, so that another service can. On the network's loop."""
        for method in (schema.INFO, schema.FORWARD, schema.BACKWARD, schema.STATUS):
            network.unserve(method)

    def _info(self, caller: Caller, payload: Payload) -> bytes:
        uids = bytes(payload).decode(errors="replace").split("\n")[: schema.MAX_DESCRIBED]
        known = [self._backends.get(uid) for uid in uids]
        if not any(known):
            raise PeerRefused(f"no expert {', '.join(uids)!r:.80} here")
        return schema.pack_infos([backend.info if backend is not None else None for backend in known])

    def _pass(self, is_backward: bool, caller: Caller, payload: Payload) -> Sendable | asyncio.Future[Sendable]:
        try:
            job = self._job(is_backward, caller, decode(payload))
            if len(payload) <= _SMALL and (batch := self._queue.claim(job)) is not None:
                return self._answered(batch)
            answer: _Answer = job.owner
            assert self._loop is not None
            answer.future = promise = _Promise(loop=self._loop)
            self._queue.put(job)
            promise.queue, promise.job = self._queue, job
        except (MalformedTensors, schema.SchemaMismatch) as exc:
            self._meter.refused += 1
            raise PeerRefused(str(exc)) from exc
        except PeerBusy:
            self._meter.refused += 1
            raise
        return promise

    def _answered(self, batch: Batch) -> Sendable:
        """Return the answer to a request that is computed here and now."""
        [(job, outcome)] = self._engine.compute(batch, self._stage)
        answer = self._packed(job, outcome)
        if isinstance(answer, PeerRefused):
            raise answer
        return answer

    def _job(self, is_backward: bool, caller: Caller, message: Message) -> Job:
        metadata = message.metadata
        uid = metadata.get(schema.UID, "")
        pool = self._pools.get((uid, is_backward))
        if pool is None:
            raise PeerRefused(f"no expert {uid!r:.80} here")
        compression = metadata.get(schema.COMPRESSION, "none")
        if compression not in COMPRESSIONS:
            raise PeerRefused(f"no compression {compression!r:.40}; there are {', '.join(COMPRESSIONS)}")
        rows = schema.check_rows(uid, pool.takes, message.specs)
        answer = _Answer(compression)
        unpack = functools.partial(self._unpacked, message, pool.takes)
        return Job(pool, caller.id, rows, unpack, answer)

    # -- where it is computed -------------------------------------------------------------------------------

    def _unpacked(self, message: Message, names: Iterable[str]) -> list[torch.Tensor]:
        try:
            tensors = message.tensors(finite=self._refuse_non_finite)
        except (MalformedTensors, NotFinite) as exc:
            raise PeerRefused(str(exc)) from exc
        return [tensors[name] for name in names]

    def deliver(self, outcomes: list[Outcome]) -> None:
        """Send results to those who wait for them."""
        answers = [(job.owner.future, self._packed(job, outcome)) for job, outcome in outcomes]
        assert self._loop is not None
        if answers:
            try:
                self._loop.call_soon_threadsafe(_resolve, answers)
            except RuntimeError:  # the loop is closed: the peer is gone, and with it those who waited
                _log.info("%d answers came after the peer was shut down", len(answers))

    def _packed(self, job: Job, outcome: list[torch.Tensor] | PeerRefused) -> Sendable | PeerRefused:
        if isinstance(outcome, PeerRefused):
            self._meter.refused += 1
            self._queue.drop(job)  # of one that was cut, the rest
            return outcome
        answer: _Answer = job.owner
        try:
            packed = encode(dict(zip(job.pool.gives, outcome, strict=True)), compression=answer.compression)
        except NotFinite:
            self._meter.refused += 1
            return PeerRefused(f"the answer of {job.pool.backend.uid} is not finite and cannot be compressed to 8 bits")
        except Exception:  # noqa: BLE001  # such as no memory left; the other answers are still to be sent
            _log.exception("the answer of expert %s cannot be sent", job.pool.backend.uid)
            self._meter.failed += 1
            return PeerRefused(f"the answer of {job.pool.backend.uid} cannot be sent; its server's log says why")
        self._meter.answered(time.monotonic() - job.arrived)
        return packed


def _resolve(answers: list[tuple[_Promise, Sendable | PeerRefused]]) -> None:
    for promise, answer in answers:
        promise.job = None
        if promise.done():  # given up meanwhile
            continue
        if isinstance(answer, PeerRefused):
            promise.set_exception(answer)
        else:
            promise.set_result(answer)
