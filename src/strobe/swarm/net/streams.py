"""The streams of a network: opened when a payload needs one, attached to the session both ends have, shared by both.

A connection begins with one sealed packet that names the session, numbered so that a recording of it opens nothing, and
its keys are derived from the session's secret and that number: there is no second handshake. A stream that is lost
takes no call with it: those move to a new one while they have time, and the peer knows them by their numbers.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from strobe.swarm.net import message as m
from strobe.swarm.net.buffers import Buffers
from strobe.swarm.net.calls import MAX_MOVES, Call, Calls
from strobe.swarm.net.cipher import InvalidTag, Suite, nonce
from strobe.swarm.net.frame import StreamBroken
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.network import PeerId, PeerUnreachable
from strobe.swarm.net.packet import ANSWER, ATTACH, HEADER, LINK, pack_reset
from strobe.swarm.net.ports import tune
from strobe.swarm.net.serving import Serving
from strobe.swarm.net.session import Session
from strobe.swarm.net.stream import Ciphers, Stream

_ATTACH_S = 5.0
_GOODBYE_S = 1.0
_REST_BYTES = 64 << 10
_COUNT = struct.Struct("<Q")


def _keys(session: Session, opener: PeerId, count: int) -> tuple[bytes, bytes, bytes]:
    """Return the keys of a session's n-th stream: proof of its first packet, from opener to acceptor, and back."""
    secret = session.keys.stream_secret
    derived = HKDF(SHA256(), 96, None, b"stream" + opener + _COUNT.pack(count)).derive(secret)
    return derived[:32], derived[32:64], derived[64:]


def _waiting(session: Session) -> list[Call]:
    """Return the calls that wait for a stream to be opened."""
    return [call for call in session.calls.values() if call.on_stream and call.stream is None]


class Streams:
    """Opens, accepts, watches and closes connections."""

    def __init__(
        self,
        suite: Suite,
        own_id: PeerId,
        limits: Limits,
        calls: Calls,
        serving: Serving,
        find_session: Callable[[int], Session | None],
        on_message: Callable[[Session, bytes, Stream], None],
        on_session_lost: Callable[[Session, list[Call]], None],
        to_relay: Callable[[socket.socket, bytes], Awaitable[None]],
    ) -> None:
        self._suite = suite
        self._own_id = own_id
        self._limits = limits
        self._calls = calls
        self._serving = serving
        self._find_session = find_session
        self._on_message = on_message
        self._on_session_lost = on_session_lost
        self._to_relay = to_relay
        self._tasks: set[asyncio.Task[None]] = set()
        self._accepting: list[asyncio.Task[None]] = []
        self._buffers = Buffers()
        self._unattached: dict[asyncio.Task[None], None] = {}
        self._opening: set[Session] = set()
        self.live: set[Stream] = set()
        self.rejected = 0

    def listen(self, listener: socket.socket) -> None:
        self._accepting.append(self._spawn(self._accept(listener)))

    async def stop_listening(self) -> None:
        """Take no more connections; afterwards the listeners may be closed."""
        accepting, self._accepting = self._accepting, []
        for task in accepting:
            task.cancel()
        await asyncio.gather(*accepting, return_exceptions=True)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._unattached.pop(task, None)

    # -- calls -------------------------------------------------------------------------------------------------------

    def start(self, session: Session, call: Call) -> None:
        """Send a call that has a number on the session's stream, opening one if need be."""
        stream = session.stream
        if stream is not None and not stream.is_spent:
            self._submit(stream, call)
        elif session not in self._opening:
            self._opening.add(session)
            if session.finish is not None:  # by datagram, while the connection is being made
                session.port.send(session.finish, session.address)
            self._spawn(self._open(session))
        # else: all that wait for it are submitted when it is open

    @staticmethod
    def _submit(stream: Stream, call: Call) -> None:
        call.stream = stream
        call.sent_at = time.monotonic()
        oldest = next(iter(stream.session.calls))
        if len(call.payload) + m.OVERHEAD > stream.session.max_message:
            stream.out.send_request(call.number, oldest, call.method, call.payload)
        else:
            stream.out.send(m.request(call.number, oldest, call.method, call.payload))

    @staticmethod
    def cancel(session: Session, number: int, way: Stream | None, *, unheard_since: float | None = None) -> None:
        """Give up a call, and tell the peer the way it went: by a stream, or by datagram.

        A stream on which nothing came since the call was made is taken for dead.
        """
        for stream in session.streams:  # the answer may come by another
            stream.out.stop(number, is_reply=False)
            stream.give_up(number, is_reply=True)
        if way is None:
            session.send(m.note(m.CANCEL, number))
        elif unheard_since is not None and way.heard <= unheard_since:
            way.cancel()
        else:
            way.out.send(m.note(m.CANCEL, number))

    # -- opening -----------------------------------------------------------------------------------------------------

    async def _open(self, session: Session) -> None:
        try:
            sock = await session.port.connect(session.address)
        except (OSError, asyncio.TimeoutError) as exc:
            self._opening.discard(session)
            contact = session.contact
            reason = f"no TCP connection to {contact.host} port {contact.port}: {exc or 'timed out'}"
            for call in _waiting(session):
                self._calls.leave(call)
                if not call.future.done():
                    call.future.set_exception(PeerUnreachable(reason))
            return
        count = session.attaches
        session.attaches += 1
        proof, out, into = _keys(session, self._own_id, count)
        head = HEADER.pack(ATTACH, session.remote_index, count)
        cipher = self._suite.cipher
        ciphers = Ciphers(cipher(out), cipher(into), self._suite.tag_bytes)
        stream = Stream(sock, session, ciphers, self, dialled=True)
        session.streams += (stream,)
        self._opening.discard(session)
        for call in _waiting(session):
            self._submit(stream, call)
        await self._run(stream, first=head + cipher(proof).encrypt(nonce(0), b"", head))

    # -- accepting ---------------------------------------------------------------------------------------------------

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                sock, _ = await loop.sock_accept(listener)
            except OSError:  # out of descriptors, or the caller hung up: others may still come
                await asyncio.sleep(0.05)
                continue
            sock.setblocking(False)
            self.welcome(sock)
            await asyncio.sleep(0)  # however many wait at the door, who has to go is gone before the next comes in

    def welcome(self, sock: socket.socket) -> None:
        """Take a connection of which nothing is known yet."""
        # The newest gets in: an honest peer needs a round trip, who holds its place longer loses it.
        if len(self._unattached) >= self._limits.max_unattached:
            oldest = next(iter(self._unattached))
            del self._unattached[oldest]
            oldest.cancel()
        self._unattached[self._spawn(self._welcome(sock))] = None

    async def _welcome(self, sock: socket.socket) -> None:
        stream, is_relayed = None, False
        try:
            tune(sock)
            packet = await asyncio.wait_for(self._first_packet(sock), _ATTACH_S)
            is_relayed = packet[0] in (LINK, ANSWER)
            stream = None if is_relayed else self._attached(sock, packet)
            if stream is None and not is_relayed:
                self.rejected += 1
                with contextlib.suppress(OSError, asyncio.TimeoutError):
                    sock.send(pack_reset(HEADER.unpack_from(packet)[1]))
                    await asyncio.wait_for(self._rest(sock), _GOODBYE_S)
        except (OSError, EOFError, asyncio.TimeoutError):
            self.rejected += 1
        finally:
            if stream is None and not is_relayed:
                sock.close()
        if (task := asyncio.current_task()) is not None:
            self._unattached.pop(task, None)
        if stream is not None:
            self._make_room(stream)
            stream.out.announce()
            await self._run(stream)
        elif is_relayed:
            await self._to_relay(sock, packet)

    async def _first_packet(self, sock: socket.socket) -> bytes:
        loop = asyncio.get_running_loop()
        packet = bytearray(HEADER.size + self._suite.tag_bytes)
        with memoryview(packet) as view:
            have = 0
            while have < len(packet):
                received = await loop.sock_recv_into(sock, view[have:])
                if not received:
                    raise EOFError
                have += received
        return bytes(packet)

    @staticmethod
    async def _rest(sock: socket.socket) -> None:
        """Read until the other end hangs up: closing before that would take back what was said last."""
        sock.shutdown(socket.SHUT_WR)
        room = bytearray(_REST_BYTES)
        while await asyncio.get_running_loop().sock_recv_into(sock, room):
            pass

    def _attached(self, sock: socket.socket, packet: bytes) -> Stream | None:
        kind, index, count = HEADER.unpack_from(packet)
        session = self._find_session(index)
        if kind != ATTACH or session is None or not session.attached.is_fresh(count):
            return None
        proof, into, out = _keys(session, session.keys.peer_id, count)
        cipher = self._suite.cipher
        try:
            cipher(proof).decrypt(nonce(0), packet[HEADER.size :], packet[: HEADER.size])
        except InvalidTag:
            return None
        session.attached.mark(count)
        ciphers = Ciphers(cipher(out), cipher(into), self._suite.tag_bytes)
        stream = Stream(sock, session, ciphers, self, dialled=False)
        session.streams += (stream,)
        session.finish = None
        return stream

    def _make_room(self, newcomer: Stream) -> None:
        limits, account = self._limits, newcomer.session.account
        own = [stream for stream in self.live if stream.session.account is account]
        for known, most in ((own, limits.max_streams_per_peer), (self.live, limits.max_streams)):
            if len(known) >= most:
                # Whoever uses it opens another; with none idle, the one that moved longest ago goes.
                victim = min(known, key=lambda stream: (not stream.is_idle, stream.moved))
                self.live.discard(victim)  # not to be chosen again until it has ended
                victim.cancel()

    # -- life --------------------------------------------------------------------------------------------------------

    async def _run(self, stream: Stream, first: bytes = b"") -> None:
        loop = asyncio.get_running_loop()
        self.live.add(stream)
        try:
            if first:
                await loop.sock_sendall(stream.socket, first)
            stream.tasks = (loop.create_task(stream.out.write()), loop.create_task(stream.read()))
            await asyncio.wait(stream.tasks, return_when=asyncio.FIRST_COMPLETED)
        except OSError:
            self.rejected += 1
        finally:
            try:
                await self._end(stream)
            finally:
                self.live.discard(stream)
                is_forgotten = stream.is_forgotten()
                stream.close()
                self._lost(stream, is_forgotten)

    async def _end(self, stream: Stream) -> None:
        for task in stream.tasks:
            task.cancel()
        for ended in await asyncio.gather(*stream.tasks, return_exceptions=True):
            if isinstance(ended, StreamBroken):
                self.rejected += 1
            elif isinstance(ended, Exception) and not isinstance(ended, OSError):
                raise ended

    def _lost(self, stream: Stream, is_forgotten: bool) -> None:
        session = stream.session
        session.streams = tuple(other for other in session.streams if other is not stream)
        session.replies.lose_sent(stream)
        begun = [call for call in session.calls.values() if call.stream is stream]
        for call in begun:
            call.stream = None
        orphans = [call for call in begun if not call.future.done()]
        if is_forgotten and session.finish is None:  # the other end has begun anew
            for call in orphans:
                self._calls.leave(call)
            self._on_session_lost(session, orphans)
            return
        for call in orphans:
            call.moves += 1
            if call.moves > MAX_MOVES:
                self._calls.leave(call)
                call.future.set_exception(PeerUnreachable("the connection was lost again and again"))
            else:
                self.start(session, call)

    def end(self, gone: list[Session]) -> None:
        """Close all connections of sessions that are gone."""
        sessions = set(gone)
        for stream in self.live if sessions else ():
            if stream.session in sessions:
                stream.cancel()

    def sweep(self, now: float) -> None:
        """Close what is idle, and what stands still in the middle of a payload."""
        self._buffers.sweep()
        for stream in list(self.live):
            session = stream.session
            stalled = stream.is_stalled(now, self._limits.stream_stall_s)
            unused = stream.is_idle and not session.calls and not session.running
            if stalled or (unused and now - stream.used > self._limits.stream_idle_s):
                stream.cancel()

    async def close(self) -> None:
        # More than once: before Python 3.12, wait_for may answer a cancellation with the result it just got.
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks, timeout=0.1)

    # -- what streams tell -------------------------------------------------------------------------------------------

    def on_message(self, stream: Stream, message: bytes) -> None:
        self._on_message(stream.session, message, stream)

    def admit(self, stream: Stream, number: int, method: bytes | None, size: int) -> memoryview | None:
        session, now = stream.session, time.monotonic()
        if method is None:
            return self._admit_reply(session, number, size, now)
        if not self._serving.is_new(session, number, now, stream):
            return None
        refusal = self._serving.reserve(session, method, size, now)
        if refusal is None:
            return self._buffers.take(size)
        stream.out.send(m.refused(number, refusal))
        return None

    def _admit_reply(self, session: Session, number: int, size: int, now: float) -> memoryview | None:
        call = session.calls.get(number)
        if call is None:
            return None
        refusal = call.excess(size) or self._serving.reserve(session, None, size, now)
        if refusal is None:
            return self._buffers.take(size)
        self._calls.refused(session, number, refusal)
        return None

    def on_large(self, stream: Stream, number: int, oldest: int, method: bytes | None, payload: memoryview) -> None:
        session = stream.session
        if method is None:
            session.account.free_in(len(payload))
            self._calls.replied(session, number, payload, in_chunks=True)
        else:
            self._serving.begin(
                session, number, oldest, method, payload, time.monotonic(), way=stream, held=len(payload)
            )

    def on_attached(self, stream: Stream) -> None:
        stream.session.finish = None
