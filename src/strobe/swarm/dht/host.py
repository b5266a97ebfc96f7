"""Where a node lives when its user is not asyncio code: in a thread with a loop of its own (or see `process`).

A host takes jobs (coroutine functions that get the node) and gives Replies. It owns its thread, its loop and its node,
and ends all three.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from strobe.errors import Error
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.reply import Reply
from strobe.swarm.dht.validator import CompositeValidator, RecordValidator
from strobe.swarm.net.address import Address
from strobe.swarm.net.cipher import AES_GCM, Suite
from strobe.swarm.net.identity import Identity
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.loop import new_event_loop
from strobe.swarm.net.peer_network import PeerNetwork
from strobe.swarm.net.relay.limits import RelayLimits

_Result = TypeVar("_Result")
Job: TypeAlias = Callable[[Node], Awaitable[_Result]]


class DhtStopped(Error):
    """The DHT was shut down, or its process died."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What it takes to open a node."""

    initial_peers: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ("127.0.0.1",)
    port: int = 0
    announce: tuple[str, ...] = ()
    identity_path: Path | None = None
    options: Options
    validators: tuple[RecordValidator, ...] = ()
    limits: Limits | None = None
    suite: Suite = AES_GCM
    relay: RelayLimits | bool = False
    relays: tuple[str, ...] = ()
    reachable: bool | None = None

    async def open(self) -> Node:
        """Return a node that has joined."""
        identity = Identity.load_or_create(self.identity_path) if self.identity_path else Identity.generate()
        contacts = [contact for text in self.initial_peers for contact in Address.parse(text).contacts]
        network = await PeerNetwork.listen(
            identity,
            self.hosts,
            self.port,
            announce=self.announce,
            limits=self.limits,
            suite=self.suite,
            relay=self.relay,
            relays=[Address.parse(text) for text in self._candidates()],
            reachable=self.reachable,
        )
        validator = CompositeValidator(self.validators) if self.validators else None
        # Whoever others reach only through somebody else asks, and leaves it to those in the open to hold records.
        options = self.options if network.is_reachable else replace(self.options, client_mode=True)
        return await Node.create(network, contacts, options, validator=validator)

    def _candidates(self) -> tuple[str, ...]:
        """Return the peers that may relay: those who were named, else those that introduce us to the swarm."""
        return self.relays or (self.initial_peers if self.reachable is False else ())

    @property
    def may_move(self) -> bool:
        """Whether the node's address may change."""
        return bool(self._candidates())


class Host(Protocol):
    """Runs jobs on a node."""

    def start(self) -> Reply[Address]:
        """Open the node; the reply is its address."""

    def address(self) -> Address | None:
        """Return where the node is reached now, if there is one."""

    def submit(self, job: Job[_Result]) -> Reply[_Result]:
        """Run a job; DhtStopped if there is no node any more."""

    def stop(self, timeout_s: float) -> None:
        """Close the node and what it lives in; jobs under way fail with DhtStopped."""


class ThreadHost:
    """A node in a thread of this process."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._stopping = asyncio.Event()
        self._ready: Reply[Address] = Reply()
        self._node: Node | None = None
        self._jobs: set[asyncio.Task[Any]] = set()
        self._lock = threading.Lock()  # for what follows, which other threads use as well
        self._replies: set[Reply[Any]] = set()
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="strobe-dht", daemon=True)

    def start(self) -> Reply[Address]:
        self._loop = new_event_loop()
        self._thread.start()
        return self._ready

    def address(self) -> Address | None:
        node = self._node
        return None if node is None else node.network.address  # a value: any thread may read it

    def submit(self, job: Job[_Result]) -> Reply[_Result]:
        reply: Reply[_Result] = Reply()
        with self._lock:
            if self._is_over:
                raise DhtStopped("this DHT was shut down; make a new one")
            self._replies.add(reply)
            self._loop.call_soon_threadsafe(self._begin, job, reply)
        reply.add_done_callback(lambda _: self._forget(reply))
        return reply

    def stop(self, timeout_s: float) -> None:
        with self._lock:
            if not self._is_over:
                self._is_over = True
                self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            raise DhtStopped(f"the DHT's thread did not end within {timeout_s:g} s; a job on it blocks")

    def _begin(self, job: Job[Any], reply: Reply[Any]) -> None:
        if self._node is None:
            reply.fail(DhtStopped("this DHT has not started"))
            return
        if reply.cancelled():
            return
        task = self._loop.create_task(_awaited(job, self._node))
        self._jobs.add(task)
        reply.when_cancelled(lambda: self._cancel(task))
        task.add_done_callback(lambda task: self._end(task, reply))

    def _cancel(self, job: asyncio.Task[Any]) -> None:
        with self._lock:
            if not self._is_over:
                self._loop.call_soon_threadsafe(job.cancel)

    def _end(self, job: asyncio.Task[Any], reply: Reply[Any]) -> None:
        self._jobs.discard(job)
        if job.cancelled():
            reply.fail(DhtStopped("the DHT was shut down before this was done"))
        elif (error := job.exception()) is not None:
            reply.fail(error)
        else:
            reply.resolve(job.result())

    def _forget(self, reply: Reply[Any]) -> None:
        with self._lock:
            self._replies.discard(reply)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._live())
            self._loop.run_until_complete(_cancelled(asyncio.all_tasks(self._loop)))
        finally:
            with self._lock:
                self._is_over = True
                left = list(self._replies)
            for reply in left:  # of jobs that the loop did not get to: nobody else will tell
                reply.fail(DhtStopped("the DHT was shut down before this was done"))
            self._loop.close()

    async def _live(self) -> None:
        try:
            self._node = await self._plan.open()
        except BaseException as exc:  # noqa: BLE001  # whoever waits for the start gets it, whatever it is
            self._ready.fail(exc)
            return
        self._ready.resolve(self._node.network.address)
        await self._stopping.wait()
        await _cancelled(self._jobs)  # before their node goes: they may have something to say goodbye to
        await self._node.close()


async def _awaited(job: Job[_Result], node: Node) -> _Result:
    return await job(node)


async def _cancelled(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Wait until these have ended, having told them to."""
    for task in (left := list(tasks)):
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
