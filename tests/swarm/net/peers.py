"""Peers for tests: real sockets on loopback, closed whatever happens, and a proxy as bad as a network can be."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from strobe.swarm.net import AES_GCM, Caller, Contact, Identity, Limits, Payload, PeerNetwork
from strobe.swarm.net.cipher import Suite
from strobe.swarm.net.ports import bind

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T], new_loop: Callable[[], asyncio.AbstractEventLoop] | None = None) -> T:
    """Run a test; what is raised where nobody awaits it (callbacks, forgotten tasks) fails it too."""
    stray: list[dict[str, Any]] = []

    async def watched() -> T:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: stray.append(context))
        return await asyncio.wait_for(work, 60)

    loop = (new_loop or asyncio.new_event_loop)()
    try:
        result = loop.run_until_complete(watched())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()
    assert not stray
    return result


@asynccontextmanager
async def peers(
    count: int = 2, *, limits: Limits | None = None, suite: Suite = AES_GCM, hosts: tuple[str, ...] = ("127.0.0.1",)
) -> AsyncIterator[list[PeerNetwork]]:
    """Peers that serve `echo` (at once), `slow_echo` (after 50 ms) and `count` (how often it was called)."""
    networks: list[PeerNetwork] = []
    try:
        for _ in range(count):
            networks.append(await PeerNetwork.listen(Identity.generate(), hosts, limits=limits, suite=suite))
            serve_echo(networks[-1])
        yield networks
    finally:
        for network in networks:
            await network.close()


def serve_echo(network: PeerNetwork) -> None:
    calls = 0

    def count(caller: Caller, payload: Payload) -> Payload:
        nonlocal calls
        calls += 1
        return str(calls).encode()

    async def slow_echo(caller: Caller, payload: Payload) -> Payload:
        await asyncio.sleep(0.05)
        return payload

    network.serve("echo", lambda caller, payload: payload)
    network.serve("slow_echo", slow_echo)
    network.serve("count", count)


class BadPath(asyncio.DatagramProtocol):
    """A UDP proxy in front of one port that loses, doubles and delays datagrams (delays reorder them)."""

    def __init__(self, target: tuple[str, int], *, loss: float, doubles: float, delay_s: float, seed: int) -> None:
        self._target = target
        self._loss = loss
        self._doubles = doubles
        self._delay_s = delay_s
        self._random = random.Random(seed)
        self._loop = asyncio.get_running_loop()
        self._front: asyncio.DatagramTransport | None = None
        self._backs: dict[Any, asyncio.DatagramTransport] = {}
        self._mapping = asyncio.Lock()
        self.log: list[bytes] = []
        self.is_cut = False

    async def open(self, port: int = 0) -> int:
        self._front, _ = await self._loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", port))
        found: int = self._front.get_extra_info("sockname")[1]
        return found

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._loop.create_task(self._forward(data, addr))

    async def _forward(self, data: bytes, addr: Any) -> None:
        async with self._mapping:  # one for each source, however many come at once
            back = self._backs.get(addr) or await self._open_back(addr)
        self._pass(data, back, self._target)

    async def _open_back(self, addr: Any) -> asyncio.DatagramTransport:
        path = self

        class Back(asyncio.DatagramProtocol):
            def datagram_received(self, data: bytes, _: Any) -> None:
                assert path._front is not None
                path._pass(data, path._front, addr)

        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setblocking(False)
        sock.bind(("127.0.0.1", 0))
        back, _ = await self._loop.create_datagram_endpoint(Back, sock=sock)
        self._backs[addr] = back
        return back

    def _pass(self, data: bytes, way: asyncio.DatagramTransport, to: Any) -> None:
        self.log.append(data)
        for _ in range(2 if self._random.random() < self._doubles else 1):
            if not self.is_cut and self._random.random() >= self._loss:
                self._loop.call_later(self._random.random() * self._delay_s, self._send, data, way, to)

    @staticmethod
    def _send(data: bytes, way: asyncio.DatagramTransport, to: Any) -> None:
        if not way.is_closing():
            way.sendto(data, to)

    def close(self) -> None:
        for way in (self._front, *self._backs.values()):
            if way is not None:
                way.close()


class BadStream:
    """A TCP proxy in front of one port: cuts connections, or goes on without passing anything (half open)."""

    def __init__(self, target: tuple[str, int], path: BadPath) -> None:
        self._target = target
        #: the way of the datagrams to the same port
        self.path = path
        self._server: asyncio.Server | None = None
        self._writers: list[asyncio.StreamWriter] = []
        #: connections are cut after this many bytes to the target
        self.cut_after: int | None = None
        self.is_silent = False
        self.pause: asyncio.Event | None = None
        #: as `pause`, only for what comes from the target
        self.pause_answers: asyncio.Event | None = None
        self.accepted = 0
        self.log = bytearray()

    async def open(self, port: int) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        far_reader, far_writer = await asyncio.open_connection(*self._target)
        self._writers += [writer, far_writer]
        budget, self.cut_after = self.cut_after, None
        await asyncio.gather(
            self._pump(reader, far_writer, budget, self.log),
            self._pump(far_reader, writer, None, bytearray(), is_answer=True),
        )

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        budget: int | None,
        log: bytearray,
        is_answer: bool = False,
    ) -> None:
        passed = 0
        try:
            while piece := await reader.read(65536):
                passed += len(piece)
                if len(log) < 1 << 20:
                    log += piece
                if budget is not None and passed > budget:
                    break
                for pause in (self.pause, self.pause_answers if is_answer else None):
                    if pause is not None:
                        await pause.wait()
                if not self.is_silent:
                    writer.write(piece)
                    await writer.drain()
        except OSError:
            pass
        if not self.is_silent:
            writer.transport.abort()

    async def close(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()


@asynccontextmanager
async def bad_stream(network: PeerNetwork) -> AsyncIterator[tuple[Contact, BadStream]]:
    """The contact by which a peer is reached by datagrams as they are and by streams through a proxy."""
    contact = network.address.contact
    ((datagrams, listener),) = bind(("127.0.0.1",), 0)  # a number that is free for both
    port = listener.getsockname()[1]
    datagrams.close()
    listener.close()
    async with bad_path(network, port=port) as (through, path):
        proxy = BadStream((contact.host, contact.port), path)
        await proxy.open(through.port)
        try:
            yield through, proxy
        finally:
            await proxy.close()


@asynccontextmanager
async def bad_path(
    network: PeerNetwork,
    *,
    loss: float = 0.0,
    doubles: float = 0.0,
    delay_s: float = 0.0,
    seed: int = 1,
    port: int = 0,
) -> AsyncIterator[tuple[Contact, BadPath]]:
    """The contact by which a peer is reached through a bad path."""
    contact = network.address.contact
    path = BadPath((contact.host, contact.port), loss=loss, doubles=doubles, delay_s=delay_s, seed=seed)
    port = await path.open(port)
    try:
        yield Contact(contact.id, "127.0.0.1", port), path
    finally:
        path.close()
