"""Where a node lives when its user is not asyncio code: in a thread with a loop of its own (or see `process`).

A host takes jobs (coroutine functions that get the node) and gives Replies. It owns its thread, its loop and its node,
and ends all three.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

from strobe.errors import Error, UsageError
from strobe.swarm.dht.attempt import Attempt
from strobe.swarm.dht.node import Node
from strobe.swarm.dht.options import Options
from strobe.swarm.dht.reply import Reply, Wait
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
    hosts: tuple[str, ...] | None = None
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
        peers = [Address.parse(text) for text in self.initial_peers]
        network = await PeerNetwork.listen(
            identity,
            self.hosts,
            self.port,
            peers=peers,
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
        if not (options.client_mode or network.has_named_host):
            await network.close()
            raise UsageError(
                "no route leads out of this machine, so that it is not known at which host others reach this peer; "
                "name the host: announce=[…], on the command line --announce HOST"
            )
        contacts = [contact for peer in peers for contact in peer.contacts]
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
        """Begin a job; DhtStopped if there is no node any more."""

    def run(self, job: Job[_Result]) -> _Result:
        """Return what comes of a job."""

    def replies_here(self) -> bool:
        """Whether it is this very thread that replies come from: who waits for one in it waits for ever."""

    def stop(self, timeout_s: float) -> None:
        """Close the node and what it lives in; jobs under way fail with DhtStopped."""

    def abandon(self) -> None:
        """End without waiting, not even for a lock: nobody knows this host any more, and this may be any thread."""


class ThreadHost:
    """A node in a thread of this process."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._stopping = asyncio.Event()
        self._ready: Reply[Address] = Reply()
        self._node: Node | None = None
        #: what is awaited, for whom, and what instead of it if it fails
        self._jobs: dict[asyncio.Future[Any], tuple[Reply[Any] | Wait[Any], Callable[[], Awaitable[Any]] | None]] = {}
        self._lock = threading.Lock()  # for posting to the loop, and for saying that nobody may any more
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
        self._post(job, reply)
        return reply

    def run(self, job: Job[_Result]) -> _Result:
        wait: Wait[_Result] = Wait()
        self._post(job, wait)
        return wait.result()

    def _post(self, job: Job[Any], reply: Reply[Any] | Wait[Any]) -> None:
        with self._lock:
            if self._is_over:
                raise DhtStopped("this DHT was shut down; make a new one")
            self._loop.call_soon_threadsafe(self._begin, job, reply)

    def replies_here(self) -> bool:
        return threading.current_thread() is self._thread

    def stop(self, timeout_s: float) -> None:
        with self._lock:
            if not self._is_over:
                self._is_over = True
                self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            raise DhtStopped(f"the DHT's thread did not end within {timeout_s:g} s; a job on it blocks")

    def abandon(self) -> None:
        with contextlib.suppress(RuntimeError):  # its loop has ended
            self._loop.call_soon_threadsafe(self._stopping.set)

    def _begin(self, job: Job[Any], reply: Reply[Any] | Wait[Any]) -> None:
        if self._is_over:
            reply.fail(_unfinished())
        elif self._node is None:
            reply.fail(DhtStopped("this DHT has not started"))
        elif not reply.cancelled():
            try:
                result = job(self._node)
            except BaseException as exc:  # noqa: BLE001  # whoever waits for the result gets it, whatever it is
                reply.fail(exc)
                return
            if isinstance(result, Attempt):
                self._follow(result.first, reply, result.otherwise)
            else:
                self._follow(self._loop.create_task(_awaited(lambda: result)), reply)

    def _follow(
        self,
        work: asyncio.Future[Any],
        reply: Reply[Any] | Wait[Any],
        otherwise: Callable[[], Awaitable[Any]] | None = None,
    ) -> None:
        self._jobs[work] = reply, otherwise
        reply.when_cancelled(functools.partial(self._cancel, work))
        work.add_done_callback(self._end)

    def _cancel(self, work: asyncio.Future[Any]) -> None:
        with self._lock:
            if not self._is_over:
                self._loop.call_soon_threadsafe(work.cancel)

    def _end(self, work: asyncio.Future[Any]) -> None:
        reply, otherwise = self._jobs.pop(work)
        if work.cancelled():
            reply.fail(_unfinished())
        elif (error := work.exception()) is None:
            reply.resolve(work.result())
        elif otherwise is not None:
            self._follow(self._loop.create_task(_awaited(otherwise)), reply)
        else:
            reply.fail(error)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._live())
            self._loop.run_until_complete(_cancelled(asyncio.all_tasks(self._loop)))
        finally:
            with self._lock:
                self._is_over = True
            # Nothing is posted any more. Those whose jobs were, and not begun, are told by one more turn of the loop.
            self._loop.call_soon(self._loop.stop)
            self._loop.run_forever()
            for reply, _ in self._jobs.values():  # if it was an error that ended the loop
                reply.fail(_unfinished())
            self._loop.close()

    async def _live(self) -> None:
        stopping = self._loop.create_task(self._stopping.wait())
        opening = self._loop.create_task(self._plan.open())
        await asyncio.wait((stopping, opening), return_when=asyncio.FIRST_COMPLETED)
        if stopping.done():
            opening.cancel()  # it may wait for peers much longer than whoever starts us does
        try:
            self._node = await opening
        except BaseException as exc:  # noqa: BLE001  # whoever waits for the start gets it, whatever it is
            self._ready.fail(_unfinished() if opening.cancelled() else exc)
            return
        self._ready.resolve(self._node.network.address)
        await stopping
        await _cancelled(self._jobs)  # before their node goes: they may have something to say goodbye to
        await self._node.close()


def _unfinished() -> DhtStopped:
    return DhtStopped("the DHT was shut down before this was done")


async def _awaited(begin: Callable[[], Awaitable[_Result]]) -> _Result:
    return await begin()


async def _cancelled(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Wait until these have ended, having told them to."""
    for task in (left := list(tasks)):
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
