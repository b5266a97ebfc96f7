"""One TCP connection of a session: messages of any size, cut into sealed frames. It takes what comes in.

A large payload is opened straight into the buffer that its handler gets: no copy is made besides. A receiver says STOP
to what it will not take. What goes out is the business of the `Outbox`.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from typing import NamedTuple, Protocol

from strobe.swarm.net import message as m
from strobe.swarm.net.cipher import Cipher, InvalidTag, nonce
from strobe.swarm.net.frame import (
    ATTACHED,
    CHUNK,
    CHUNK_REPLY,
    CHUNK_REQUEST,
    FRAME,
    MAX_FRAMES,
    MAX_SMALL,
    MESSAGE,
    OPEN,
    OPEN_REPLY,
    OPEN_REQUEST,
    STOP_REPLY,
    STOP_REQUEST,
    StreamBroken,
)
from strobe.swarm.net.outbox import Outbox
from strobe.swarm.net.packet import pack_reset
from strobe.swarm.net.seen import MAX_UNANSWERED
from strobe.swarm.net.session import Session

_FIRST_BUFFER = 16 << 10
#: payloads that may be coming at once: the requests that a peer may have unanswered, and the replies to ours
_MAX_INCOMING = 2 * MAX_UNANSWERED
#: What is announced has to come at a pace at which it would all be here in this time; no call waits that long.
_MOST_S = 3600.0


class Host(Protocol):
    """What a stream tells its owner."""

    def on_message(self, stream: Stream, message: bytes) -> None: ...

    def admit(self, stream: Stream, number: int, method: bytes | None, size: int) -> memoryview | None:
        """Return room for a large payload (without method: a reply's), or say to whom it concerns why there is none."""

    def on_large(self, stream: Stream, number: int, oldest: int, method: bytes | None, payload: memoryview) -> None:
        """Take a large payload whose room was reserved: a request's, or (without method) a reply's."""

    def on_attached(self, stream: Stream) -> None: ...


class Ciphers(NamedTuple):
    """A stream's own two keys."""

    out: Cipher
    into: Cipher
    tag_bytes: int


class _Incoming:
    __slots__ = ("method", "offset", "oldest", "since", "view")

    def __init__(self, method: bytes | None, oldest: int, view: memoryview, now: float) -> None:
        self.method = method
        self.oldest = oldest
        self.view = view
        self.since = now
        self.offset = 0


class Stream:
    """The connection itself, from being attached until it is lost or closed."""

    def __init__(self, sock: socket.socket, session: Session, ciphers: Ciphers, host: Host, dialled: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self.socket = sock
        self.session = session
        self._account = session.account
        out, self._into, self._tag = ciphers
        self.out = Outbox(sock, out, self._tag, session.account)
        self._host = host
        self._received = 0
        self._incoming: dict[tuple[int, bool], _Incoming] = {}
        self._buffer = bytearray(_FIRST_BUFFER)
        self._start = self._end = 0
        #: the two that read and write it
        self.tasks: tuple[asyncio.Task[None], ...] = ()
        #: whether the other end has shown that it knows the session
        self.is_attached = not dialled
        self._used = self.heard = time.monotonic()
        #: bytes that came; when the pace was last looked at, and how many there were then
        self._num_bytes = 0
        self._paced = (self.heard, 0)

    # -- state -------------------------------------------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        return self.out.is_idle and not self._incoming

    @property
    def used(self) -> float:
        """When a message or a payload last began, in either direction."""
        return max(self._used, self.out.used)

    @property
    def moved(self) -> float:
        """When anything was last sent or received."""
        return max(self.heard, self.out.wrote)

    def is_stalled(self, now: float, patience_s: float) -> bool:
        """Tell whether one direction stands still in the middle of something, whatever the other does."""
        out = self.out
        if out.is_busy and now - out.wrote > patience_s:
            return True
        is_receiving = bool(self._incoming) and not out.is_draining
        return is_receiving and (now - self.heard > patience_s or self._is_slow(now, patience_s))

    def _is_slow(self, now: float, patience_s: float) -> bool:
        """Tell whether so little has come that what was announced is only there to hold its place."""
        began, before = self._paced
        if now - began <= patience_s:
            return False
        self._paced = now, self._num_bytes
        announced = sum(len(each.view) for each in self._incoming.values() if each.since <= began)
        return self._num_bytes - before < announced * (now - began) / _MOST_S

    @property
    def is_spent(self) -> bool:
        return max(self.out.sent, self._received) >= MAX_FRAMES

    def is_forgotten(self) -> bool:
        """Tell whether the other end said that it does not know the session: in the clear, as it has no key.

        To be asked after the tasks have ended, and before `close`.
        """
        if self.is_attached:
            return False
        with contextlib.suppress(OSError):  # writing may have failed before this was read
            self._end += self.socket.recv_into(memoryview(self._buffer)[self._end :])
        return self._buffer[self._start : self._end] == pack_reset(self.session.remote_index)

    # -- in ----------------------------------------------------------------------------------------------------------

    async def read(self) -> None:
        """Take what comes until the end; raises StreamBroken and OSError."""
        while True:
            if self.out.is_full:
                await self.out.drain()
                self.heard = time.monotonic()
                self._paced = self.heard, self._num_bytes
            while self._end - self._start < FRAME.size:
                if not await self._fill(FRAME.size):
                    return
            length, kind, number = FRAME.unpack_from(self._buffer, self._start)
            if not self._tag <= length <= max(CHUNK, MAX_SMALL) + m.OVERHEAD + self._tag:
                raise StreamBroken(f"a frame of {length} bytes")
            if kind in (CHUNK_REQUEST, CHUNK_REPLY) and not self._tag:
                if not await self._take_raw(length, number, kind == CHUNK_REPLY):
                    return
                continue
            whole = FRAME.size + length
            while self._end - self._start < whole:
                if not await self._fill(whole):
                    return
            self._take(kind, number, self._start, whole)
            self._start += whole

    async def _fill(self, need: int) -> bool:
        """Receive more, with room for `need` bytes from `_start` on; False at the end of the stream."""
        if self._start == self._end:
            self._start = self._end = 0
        if self._start + need > len(self._buffer):
            rest = self._buffer[self._start : self._end]
            if need > len(self._buffer):
                self._buffer = bytearray(need + _FIRST_BUFFER)
            self._buffer[: len(rest)] = rest
            self._start, self._end = 0, len(rest)
        with memoryview(self._buffer) as view, view[self._end :] as room:
            received = await self._loop.sock_recv_into(self.socket, room)
        self._end += received
        self._num_bytes += received
        self.heard = time.monotonic()
        return received > 0

    def _take(self, kind: int, number: int, start: int, whole: int) -> None:
        with memoryview(self._buffer) as view:
            head = bytes(view[start : start + FRAME.size])
            sealed = view[start + FRAME.size : start + whole]
            count = nonce(self._received)
            self._received += 1
            try:
                if kind in (CHUNK_REQUEST, CHUNK_REPLY):
                    size = len(sealed) - self._tag
                    target = self._target(number, kind == CHUNK_REPLY, size)
                    if target is None:
                        self._into.decrypt(count, sealed, head)
                        return
                    self._into.decrypt_into(count, sealed, head, target)
                    self._advance(number, kind == CHUNK_REPLY, size)
                    return
                body = self._into.decrypt(count, sealed, head)
            except InvalidTag as exc:
                raise StreamBroken("a frame does not open") from exc
        self._handle(kind, number, body)

    def _handle(self, kind: int, number: int, body: bytes) -> None:
        if not self.is_attached:
            self.is_attached = True
            self._host.on_attached(self)
        if kind == MESSAGE and len(body) >= m.HEAD.size:
            self._used = time.monotonic()
            self._host.on_message(self, body)
        elif kind in (OPEN_REQUEST, OPEN_REPLY) and len(body) >= OPEN.size:
            self._open(kind == OPEN_REPLY, number, body)
        elif kind in (STOP_REQUEST, STOP_REPLY):
            self.out.stop(number, kind == STOP_REPLY)
        elif kind != ATTACHED:
            raise StreamBroken(f"a frame of kind {kind} with {len(body)} bytes")

    def _open(self, is_reply: bool, number: int, body: bytes) -> None:
        size, oldest = OPEN.unpack_from(body)
        key = (number, is_reply)
        if key in self._incoming or size == 0 or oldest > number or len(body) > OPEN.size + m.MAX_METHOD:
            raise StreamBroken(f"request {number} announces {size} bytes in the wrong place")
        if len(self._incoming) >= _MAX_INCOMING:
            raise StreamBroken(f"more than {_MAX_INCOMING} payloads at once")
        self._used = time.monotonic()
        method = None if is_reply else body[OPEN.size :]
        view = self._host.admit(self, number, method, size)
        if view is None:
            self.out.refuse(number, is_reply)
            return
        self._incoming[key] = _Incoming(method, oldest, view, self._used)

    def _target(self, number: int, is_reply: bool, size: int) -> memoryview | None:
        """Return where a chunk belongs; None for a payload that was refused and not stopped in time."""
        incoming = self._incoming.get((number, is_reply))
        if incoming is None:
            return None
        if incoming.offset + size > len(incoming.view):
            raise StreamBroken(f"request {number} is longer than it announced")
        return incoming.view[incoming.offset : incoming.offset + size]

    def _advance(self, number: int, is_reply: bool, size: int) -> None:
        incoming = self._incoming[number, is_reply]
        incoming.offset += size
        if incoming.offset == len(incoming.view):
            del self._incoming[number, is_reply]
            self._host.on_large(self, number, incoming.oldest, incoming.method, incoming.view)

    async def _take_raw(self, length: int, number: int, is_reply: bool) -> bool:
        """Receive an unsealed chunk straight into its place."""
        self._start += FRAME.size
        target = self._target(number, is_reply, length) or memoryview(bytearray(length))
        have = min(length, self._end - self._start)
        target[:have] = memoryview(self._buffer)[self._start : self._start + have]
        self._start += have
        while have < length:
            received = await self._loop.sock_recv_into(self.socket, target[have:])
            if not received:
                return False
            have += received
            self._num_bytes += received
        self.heard = time.monotonic()
        if (number, is_reply) in self._incoming:
            self._advance(number, is_reply, length)
        return True

    def give_up(self, number: int, is_reply: bool) -> None:
        """Take no more of a payload that is coming."""
        incoming = self._incoming.pop((number, is_reply), None)
        if incoming is not None:
            self._account.free_in(len(incoming.view))
            self.out.refuse(number, is_reply)

    def cancel(self) -> None:
        """Make the stream end."""
        for task in self.tasks:
            task.cancel()

    def close(self) -> None:
        """Free what it holds; only after its tasks have ended."""
        for incoming in self._incoming.values():
            self._account.free_in(len(incoming.view))
        self._incoming.clear()
        self.out.close()
        self.socket.close()
