"""A server of experts: answers forward and backward passes of any peer, in the background of this program.

    with DHT(initial_peers) as dht, Server.create(dht, pattern="ffn.[0:4].[0:256]", num_experts=16) as server:
        server.join()

One process: the peer's event loop (the DHT's), the threads that compute, one that saves checkpoints and one that logs.
Experts are declared in the DHT when the server starts, and again before that expires.
"""

from __future__ import annotations

import contextlib
import logging
import math
import random
import threading
from collections.abc import Iterable, Sized
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Final

from strobe.errors import Error, UsageError
from strobe.swarm.dht import DHT, Node
from strobe.swarm.experts import checkpoint
from strobe.swarm.experts.backend import ExpertBackend, Training
from strobe.swarm.experts.declaring import Declaring
from strobe.swarm.experts.engine import Engine
from strobe.swarm.experts.meter import Meter
from strobe.swarm.experts.registry import expert_kind
from strobe.swarm.experts.runtime import Runtime
from strobe.swarm.experts.selection import choose_uids
from strobe.swarm.experts.service import Service
from strobe.swarm.experts.uid import ExpertUid
from strobe.swarm.experts.work import WorkQueue
from strobe.swarm.net.network import PeerBusy

_log = logging.getLogger("strobe.swarm.experts")
_LEAST_LIFE_S: Final = 3.0
#: names in a status
_MAX_TOLD: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """What can be chosen about a server; times in seconds."""

    #: how often experts are declared and saved, and how long a declaration lives (default: twice that)
    update_period_s: float = 30.0
    expiration_s: float | None = None
    #: requests that wait; more are told when to come again
    max_waiting: int = 2048
    #: threads that get batches ready, and how many of them compute at the same time. Without a number: one, for each
    #: has torch threads of its own, which spin for some milliseconds when another's turn has come; two if the experts
    #: are on a device, which would be idle while the next batch gets ready
    num_threads: int | None = None
    num_parallel: int = 1
    #: whether requests with NaN or infinite values are refused, which may otherwise spoil an expert for all
    refuse_non_finite: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.update_period_s < math.inf:
            raise UsageError(f"experts are declared every {self.update_period_s:g} s; give a number of seconds above 0")
        if not self.life_s > self.update_period_s:
            raise UsageError(
                f"declarations that expire after {self.expiration_s:g} s, made every {self.update_period_s:g} s; "
                "experts would vanish in between: let them live twice as long"
            )

        for name in ("max_waiting", "num_threads", "num_parallel"):
            if (count := getattr(self, name)) is not None and count < 1:
                raise UsageError(f"{name} is {count}; a server answers nobody with fewer than 1")

    @property
    def life_s(self) -> float:
        return max(2 * self.update_period_s, _LEAST_LIFE_S) if self.expiration_s is None else self.expiration_s


class Server:
    """Experts that are served by the peer of a DHT in this process. Not started before `start` (or `with`)."""

    def __init__(
        self,
        dht: DHT,
        backends: Iterable[ExpertBackend],
        *,
        checkpoint_dir: str | Path | None = None,
        options: ServerOptions | None = None,
    ) -> None:
        self.dht = dht
        self.options = options or ServerOptions()
        self.backends: dict[str, ExpertBackend] = {backend.uid: backend for backend in backends}
        if not self.backends:
            raise UsageError("a server without experts; give at least one")
        self.meter = Meter()
        self.checkpoint_dir = Path(checkpoint_dir) if checkpoint_dir is not None else None
        self.queue = WorkQueue(max_waiting=self.options.max_waiting)
        engine = Engine(self.queue, self.meter, num_parallel=self.options.num_parallel)
        self._service = Service(
            self.backends,
            self.queue,
            engine,
            self.meter,
            refuse_non_finite=self.options.refuse_non_finite,
            status=self.status,
        )
        is_on_device = any(backend.device.type != "cpu" for backend in self.backends.values())
        num_threads = self.options.num_threads or (2 if is_on_device else 1)
        self._runtime = Runtime(
            self.queue, engine, self._service.deliver, num_threads=max(num_threads, self.options.num_parallel)
        )
        self._stopping = threading.Event()
        # What `join` waits on: an interrupt on the way into an event's wait may leave its lock held, which `set` takes.
        self._ended: SimpleQueue[None] = SimpleQueue()
        self._saver = threading.Thread(target=self._save_regularly, name="strobe-expert-saver", daemon=True)
        self._declaring: Declaring | None = None
        #: the peers that this one knows; those come and go
        self._peers: Sized = ()
        self._is_started = False

    @classmethod
    def create(
        cls,
        dht: DHT,
        *,
        expert_class: str = "ffn",
        hidden_dim: int = 1024,
        uids: Iterable[str] = (),
        pattern: str | None = None,
        num_experts: int | None = None,
        max_batch_size: int = 4096,
        device: str = "cpu",
        training: Training | None = None,
        checkpoint_dir: str | Path | None = None,
        options: ServerOptions | None = None,
        rng: random.Random | None = None,
    ) -> Server:
        """Return a server of new experts, or of those that its checkpoint directory has.

        Either the names are given, or a pattern and how many of its names to take: first those with checkpoints, then
        at random those that nobody in the swarm serves.
        """
        kind = expert_kind(expert_class)
        directory = Path(checkpoint_dir) if checkpoint_dir is not None else None
        names = choose_uids(dht, uids, pattern, num_experts, directory, rng or random.Random())
        backends: list[ExpertBackend] = []
        for uid in names:
            backend = ExpertBackend.build(
                uid,
                kind,
                hidden_dim,
                training=training,
                max_batch_size=max_batch_size,
                device=device,
                like=backends[0].info if backends else None,
            )
            if directory is not None:
                checkpoint.load(backend, directory)
            backends.append(backend)
        return cls(dht, backends, checkpoint_dir=directory, options=options)

    @property
    def uids(self) -> list[ExpertUid]:
        return [backend.uid for backend in self.backends.values()]

    def start(self) -> None:
        """Answer requests; return when the experts are declared."""
        if self._stopping.is_set():
            raise UsageError("this server was shut down; make a new one, its DHT can be the same")
        if self._is_started:
            return
        self._is_started = True
        if self.checkpoint_dir is not None:
            with contextlib.suppress(OSError):  # of which saving will tell
                checkpoint.remove_drafts(self.checkpoint_dir, self.backends.keys())
        self._runtime.start()
        try:
            self.dht.run_coroutine(self._attach)
        except BaseException:
            self._stop()
            self.queue.close()
            raise
        if self.checkpoint_dir is not None:
            self._saver.start()

    def shutdown(self, timeout_s: float = 10.0) -> None:
        """Answer nothing any more; save what was learned. The DHT goes on: it belongs to whoever made it."""
        if not self._is_started or self._stopping.is_set():
            return
        self._stop()
        with contextlib.suppress(Error):  # the DHT may have been shut down first
            self.dht.run_coroutine(self._detach)
        left = self.queue.close()
        self._runtime.stop(timeout_s)
        self._service.deliver([(job, PeerBusy("this server is shutting down", 30.0)) for job in left])
        if self.checkpoint_dir is not None:
            self._saver.join(timeout_s)
            self.save()

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait until somebody calls `shutdown`; return whether that has happened."""
        try:
            self._ended.put(self._ended.get(timeout=timeout_s))  # back again, for others who wait
        except Empty:
            return False
        return True

    def _stop(self) -> None:
        self._stopping.set()
        self._ended.put(None)

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()

    def save(self) -> None:
        """Write all experts to the checkpoint directory now; CheckpointUnsaved if some cannot be, after the others."""
        if self.checkpoint_dir is None:
            raise UsageError("this server has no checkpoint directory; give it one")
        failures: list[tuple[ExpertUid, Exception]] = []
        for backend in self.backends.values():
            try:
                checkpoint.save(backend, self.checkpoint_dir)
            except Exception as exc:  # noqa: BLE001  # of a disk, a device or a module; the others are saved
                failures.append((backend.uid, exc))
        if failures:
            uid, fault = failures[0]
            raise checkpoint.CheckpointUnsaved(
                f"{len(failures)} of {len(self.backends)} experts could not be saved in {self.checkpoint_dir}, "
                f"first {uid}: {fault!r}; what was saved of them before is still there"
            ) from fault

    def figures(self) -> dict[str, float]:
        """Return how the server is doing, by names that a run can log."""
        return {
            **self.meter.read(),
            "experts": len(self.backends),
            "steps": sum(backend.num_steps for backend in self.backends.values()),
            "skipped_steps": sum(backend.num_skipped for backend in self.backends.values()),
            "queue_requests": self.queue.num_waiting,
            "queue_samples": self.queue.rows_waiting,
            "peers": len(self._peers),
        }

    def status(self) -> dict[str, Any]:
        """Return what the server tells whoever asks."""
        return {**self.figures(), "uids": self.uids[:_MAX_TOLD]}

    # -- in the background -------------------------------------------------------------------------------------------

    async def _attach(self, node: Node) -> None:
        self._peers = node.peers.table
        self._service.attach(node.network)
        options = self.options
        self._declaring = Declaring(node, self.uids, period_s=options.update_period_s, life_s=options.life_s)
        try:
            await self._declaring.begin()
        except BaseException:
            self._service.detach(node.network)
            raise

    async def _detach(self, node: Node) -> None:
        self._service.detach(node.network)
        if self._declaring is not None:
            await self._declaring.end()

    def _save_regularly(self) -> None:
        while not self._stopping.wait(self.options.update_period_s):
            try:
                self.save()
            except checkpoint.CheckpointUnsaved:
                _log.exception("trying again in %g s", self.options.update_period_s)
