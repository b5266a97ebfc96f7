"""One TCP connection of a session: messages of any size, cut into sealed frames that take turns.

A large payload is read from the caller's memory, sealed chunk by chunk into one reused buffer, and opened at the other
end straight into the buffer that its handler gets: no copy is made besides. Frames of small messages go first; large
ones alternate. A receiver says STOP to what it will not take. The socket's own back-pressure is the flow control.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections import deque
from typing import NamedTuple, Protocol

from strobe.errors import Error
from strobe.swarm.net import message as m
from strobe.swarm.net.cipher import Cipher, InvalidTag, nonce
from strobe.swarm.net.network import Pieces, Sendable
from strobe.swarm.net.session import Session

#: length of what follows, kind, number
_FRAME = struct.Struct("<IBI")
#: number of bytes to come, oldest unanswered number; a request's method follows
_OPEN = struct.Struct("<QI")
MESSAGE, OPEN_REQUEST, OPEN_REPLY, CHUNK_REQUEST, CHUNK_REPLY, STOP_REQUEST, STOP_REPLY, ATTACHED = range(8)

CHUNK = 512 << 10
_FIRST_BUFFER = 16 << 10
_MAX_SMALL = 64 << 10
#: Bytes of small frames that wait to be sent before nothing more is read, which would only make more of them. Far more
#: than sockets hold, so that two ends which both answer a lot do not come to wait for each other.
_MAX_BACKLOG = 16 << 20
#: no key seals more frames than this; the next call opens another stream
_MAX_FRAMES = 1 << 24


class StreamBroken(Error):
    """The other end sent what no honest peer sends."""


class Host(Protocol):
    """What a stream tells its owner."""

    def on_message(self, session: Session, message: bytes) -> None: ...

    def admit(self, session: Session, number: int, method: bytes | None, size: int) -> memoryview | None:
        """Return room for a large payload (without method: a reply's), or say to whom it concerns why there is none."""

    def on_large(self, session: Session, number: int, oldest: int, method: bytes | None, payload: memoryview) -> None:
        """Take a large payload whose room was reserved: a request's, or (without method) a reply's."""

    def on_attached(self, stream: Stream) -> None: ...


class Ciphers(NamedTuple):
    """A stream's own two keys."""

    out: Cipher
    into: Cipher
    tag_bytes: int


class _Outgoing:
    __slots__ = ("_offset", "_views", "is_reply", "number", "size")

    def __init__(self, number: int, is_reply: bool, payload: Sendable) -> None:
        self.number = number
        self.is_reply = is_reply
        self.size = len(payload)
        parts = payload.parts if isinstance(payload, Pieces) else (payload,)
        self._views = deque(memoryview(part).cast("B") for part in parts)
        self._offset = 0

    @property
    def is_done(self) -> bool:
        return not self._views

    def take(self) -> memoryview:
        """Return the next chunk; none reaches over the end of one of the payload's buffers."""
        view = self._views[0]
        piece = view[self._offset : self._offset + CHUNK]
        self._offset += len(piece)
        if self._offset == len(view):
            self._views.popleft()
            self._offset = 0
        return piece

    def drop(self) -> None:
        self._views.clear()


class _Incoming:
    __slots__ = ("method", "offset", "oldest", "view")

    def __init__(self, method: bytes | None, oldest: int, view: memoryview) -> None:
        self.method = method
        self.oldest = oldest
        self.view = view
        self.offset = 0


class Stream:
    """The connection itself, from being attached until it is lost or closed."""

    def __init__(self, sock: socket.socket, session: Session, ciphers: Ciphers, host: Host, dialled: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self.socket = sock
        self.session = session
        self._account = session.account
        self._out, self._into, self._tag = ciphers
        self._host = host
        self._sent = 0
        self._received = 0
        self._small: deque[bytes] = deque()
        self._backlog_bytes = 0
        self._large: deque[_Outgoing] = deque()
        #: of which a chunk is being sent
        self._current: _Outgoing | None = None
        #: set while nothing is read, because of the backlog
        self._drained: asyncio.Future[None] | None = None
        self._incoming: dict[tuple[int, bool], _Incoming] = {}
        self._wake: asyncio.Future[None] | None = None
        self._buffer = bytearray(_FIRST_BUFFER)
        self._start = self._end = 0
        #: the two that read and write it
        self.tasks: tuple[asyncio.Task[None], ...] = ()
        #: whether the other end has shown that it knows the session
        self.is_attached = not dialled
        self.used = self.heard = self._wrote = time.monotonic()

    # -- state -------------------------------------------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        return self._wake is not None and not self._small and not self._large and not self._incoming

    @property
    def moved(self) -> float:
        """When anything was last sent or received."""
        return max(self.heard, self._wrote)

    def is_stalled(self, now: float, patience_s: float) -> bool:
        """Tell whether one direction stands still in the middle of something, whatever the other does."""
        is_sending = self._wake is None
        is_receiving = bool(self._incoming) and self._drained is None
        return (is_sending and now - self._wrote > patience_s) or (is_receiving and now - self.heard > patience_s)

    @property
    def is_spent(self) -> bool:
        return max(self._sent, self._received) >= _MAX_FRAMES

    # -- out ---------------------------------------------------------------------------------------------------------

    def send(self, message: bytes) -> None:
        """Queue a message that fits in one frame."""
        self._queue(MESSAGE, 0, message)

    def announce(self) -> None:
        """Say to the end that opened the stream that its session is known."""
        self._queue(ATTACHED, 0, b"")

    def send_request(self, number: int, oldest: int, method: bytes, payload: Sendable) -> None:
        outgoing = _Outgoing(number, False, payload)
        self._large.append(outgoing)
        self._queue(OPEN_REQUEST, number, _OPEN.pack(outgoing.size, oldest) + method)

    def send_large(self, number: int, payload: Sendable) -> None:
        """Queue a reply."""
        outgoing = _Outgoing(number, True, payload)
        self._account.take_out(outgoing.size)
        self._large.append(outgoing)
        self._queue(OPEN_REPLY, number, _OPEN.pack(outgoing.size, 0))

    def stop(self, number: int, is_reply: bool) -> None:
        """Send no more of a payload."""
        for outgoing in list(self._large):
            if outgoing.number == number and outgoing.is_reply == is_reply:
                self._large.remove(outgoing)
                outgoing.drop()
                if outgoing is not self._current:
                    self._over(outgoing)

    def _over(self, outgoing: _Outgoing) -> None:
        if outgoing.is_reply:  # requests are in the memory of whoever calls
            self._account.free_out(outgoing.size)

    def _queue(self, kind: int, number: int, body: bytes) -> None:
        frame = _FRAME.pack(len(body), kind, number) + body
        self._small.append(frame)
        self._backlog_bytes += len(frame)
        self._account.take_out(len(frame))
        self.used = time.monotonic()
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def write(self) -> None:
        """Send what is queued, for ever."""
        loop, sock = self._loop, self.socket
        scratch = bytearray()
        while True:
            while self._small:  # all of them: a chunk must not overtake its announcement
                await self._send_small()
            if not self._large:
                scratch = bytearray()
                self._wake = loop.create_future()
                await self._wake
                self._wake = None
                self._wrote = time.monotonic()
                continue
            outgoing = self._current = self._large.popleft()
            piece = outgoing.take()
            if not outgoing.is_done:
                self._large.append(outgoing)
            head = _FRAME.pack(
                len(piece) + self._tag, CHUNK_REPLY if outgoing.is_reply else CHUNK_REQUEST, outgoing.number
            )
            try:
                if not self._tag:  # nothing to seal: straight from the caller's memory
                    await loop.sock_sendall(sock, head)
                    await loop.sock_sendall(sock, piece)
                else:
                    if not scratch:
                        scratch = bytearray(_FRAME.size + CHUNK + self._tag)
                    end = len(head) + len(piece) + self._tag
                    with memoryview(scratch) as view:
                        view[: len(head)] = head
                        self._out.encrypt_into(nonce(self._sent), piece, head, view[len(head) : end])
                        self._sent += 1
                        await loop.sock_sendall(sock, view[:end])
            finally:
                self._current = None
                if outgoing.is_done:
                    self._over(outgoing)
            self._wrote = time.monotonic()

    async def _send_small(self) -> None:
        frames: list[bytes] = []
        size = 0
        while self._small and size < _MAX_SMALL:
            frame = self._small.popleft()
            head, body = frame[: _FRAME.size], frame[_FRAME.size :]
            length, kind, number = _FRAME.unpack(head)
            head = _FRAME.pack(length + self._tag, kind, number)
            frames.append(head)
            frames.append(self._out.encrypt(nonce(self._sent), body, head))
            self._sent += 1
            size += len(frame)
        try:
            await self._loop.sock_sendall(self.socket, b"".join(frames))
        finally:
            self._account.free_out(size)
        self._backlog_bytes -= size
        self._wrote = time.monotonic()
        if self._drained is not None and not self._drained.done() and self._backlog_bytes <= _MAX_BACKLOG:
            self._drained.set_result(None)

    # -- in ----------------------------------------------------------------------------------------------------------

    async def read(self) -> None:
        """Take what comes until the end; raises StreamBroken and OSError."""
        while True:
            if self._backlog_bytes > _MAX_BACKLOG:
                await self._drain()
            while self._end - self._start < _FRAME.size:
                if not await self._fill(_FRAME.size):
                    return
            length, kind, number = _FRAME.unpack_from(self._buffer, self._start)
            if not self._tag <= length <= max(CHUNK, _MAX_SMALL) + m.OVERHEAD + self._tag:
                raise StreamBroken(f"a frame of {length} bytes")
            if kind in (CHUNK_REQUEST, CHUNK_REPLY) and not self._tag:
                if not await self._take_raw(length, number, kind == CHUNK_REPLY):
                    return
                continue
            whole = _FRAME.size + length
            while self._end - self._start < whole:
                if not await self._fill(whole):
                    return
            self._take(kind, number, self._start, whole)
            self._start += whole

    async def _drain(self) -> None:
        """Wait until the other end has read enough of what it caused."""
        self._drained = self._loop.create_future()
        await self._drained
        self._drained = None
        self.heard = time.monotonic()

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
        self.heard = time.monotonic()
        return received > 0

    def _take(self, kind: int, number: int, start: int, whole: int) -> None:
        with memoryview(self._buffer) as view:
            head = bytes(view[start : start + _FRAME.size])
            sealed = view[start + _FRAME.size : start + whole]
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
            self.used = time.monotonic()
            self._host.on_message(self.session, body)
        elif kind in (OPEN_REQUEST, OPEN_REPLY) and len(body) >= _OPEN.size:
            self._open(kind == OPEN_REPLY, number, body)
        elif kind in (STOP_REQUEST, STOP_REPLY):
            self.stop(number, kind == STOP_REPLY)
        elif kind != ATTACHED:
            raise StreamBroken(f"a frame of kind {kind} with {len(body)} bytes")

    def _open(self, is_reply: bool, number: int, body: bytes) -> None:
        size, oldest = _OPEN.unpack_from(body)
        key = (number, is_reply)
        if key in self._incoming or size == 0 or oldest > number or len(body) > _OPEN.size + m.MAX_METHOD:
            raise StreamBroken(f"request {number} announces {size} bytes in the wrong place")
        self.used = time.monotonic()
        method = None if is_reply else body[_OPEN.size :]
        view = self._host.admit(self.session, number, method, size)
        if view is None:
            self._queue(STOP_REPLY if is_reply else STOP_REQUEST, number, b"")
            return
        self._incoming[key] = _Incoming(method, oldest, view)

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
            self._host.on_large(self.session, number, incoming.oldest, incoming.method, incoming.view)

    async def _take_raw(self, length: int, number: int, is_reply: bool) -> bool:
        """Receive an unsealed chunk straight into its place."""
        self._start += _FRAME.size
        target = self._target(number, is_reply, length) or memoryview(bytearray(length))
        have = min(length, self._end - self._start)
        target[:have] = memoryview(self._buffer)[self._start : self._start + have]
        self._start += have
        while have < length:
            received = await self._loop.sock_recv_into(self.socket, target[have:])
            if not received:
                return False
            have += received
        self.heard = time.monotonic()
        if (number, is_reply) in self._incoming:
            self._advance(number, is_reply, length)
        return True

    def give_up(self, number: int, is_reply: bool) -> None:
        """Take no more of a payload that is coming."""
        incoming = self._incoming.pop((number, is_reply), None)
        if incoming is not None:
            self._account.free_in(len(incoming.view))
            self._queue(STOP_REPLY if is_reply else STOP_REQUEST, number, b"")

    def cancel(self) -> None:
        """Make the stream end."""
        for task in self.tasks:
            task.cancel()

    def close(self) -> None:
        """Free what it holds; only after its tasks have ended."""
        for incoming in self._incoming.values():
            self._account.free_in(len(incoming.view))
        for outgoing in self._large:
            self._over(outgoing)
        self._account.free_out(sum(map(len, self._small)))
        self._incoming.clear()
        self._large.clear()
        self._small.clear()
        self.socket.close()
