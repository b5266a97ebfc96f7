"""What a stream sends: small messages first, large payloads chunk by chunk, taking turns.

A large payload is read from the caller's memory and sealed into one buffer that is used again: no copy is made besides.
The socket's own back-pressure is the flow control. Who causes more answers than it reads is not read any more.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import deque

from strobe.swarm.net.account import Account
from strobe.swarm.net.cipher import Cipher, nonce
from strobe.swarm.net.frame import (
    ATTACHED,
    CHUNK,
    CHUNK_REPLY,
    CHUNK_REQUEST,
    FRAME,
    MAX_SMALL,
    MESSAGE,
    OPEN,
    OPEN_REPLY,
    OPEN_REQUEST,
    STOP_REPLY,
    STOP_REQUEST,
)
from strobe.swarm.net.network import Pieces, Sendable

#: Bytes of small frames that wait to be sent before nothing more is read, which would only make more of them. Far more
#: than sockets hold, so that two ends which both answer a lot do not come to wait for each other.
_MAX_BACKLOG = 16 << 20


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


class Outbox:
    """One end's way out of a stream."""

    def __init__(self, sock: socket.socket, cipher: Cipher, tag_bytes: int, account: Account) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = sock
        self._cipher = cipher
        self._tag = tag_bytes
        self._account = account
        self._small: deque[bytes] = deque()
        self._backlog_bytes = 0
        self._large: deque[_Outgoing] = deque()
        #: of which a chunk is being sent
        self._current: _Outgoing | None = None
        #: set while there is nothing to send
        self._wake: asyncio.Future[None] | None = None
        #: set while somebody waits for the backlog to shrink
        self._drained: asyncio.Future[None] | None = None
        #: frames that were sealed
        self.sent = 0
        #: when anything was last queued, and last sent
        self.used = self.wrote = time.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether something is being sent."""
        return self._wake is None

    @property
    def is_idle(self) -> bool:
        return self._wake is not None and not self._small and not self._large

    @property
    def is_full(self) -> bool:
        return self._backlog_bytes > _MAX_BACKLOG

    @property
    def is_draining(self) -> bool:
        """Whether somebody waits for it to be full no more."""
        return self._drained is not None

    async def drain(self) -> None:
        """Wait until the other end has read enough of what it caused."""
        self._drained = self._loop.create_future()
        await self._drained
        self._drained = None

    # -- what there is to send ---------------------------------------------------------------------------------------

    def send(self, message: bytes) -> None:
        """Queue a message that fits in one frame."""
        self._queue(MESSAGE, 0, message)

    def announce(self) -> None:
        """Say to the end that opened the stream that its session is known."""
        self._queue(ATTACHED, 0, b"")

    def refuse(self, number: int, is_reply: bool) -> None:
        """Say that no more of a payload is taken."""
        self._queue(STOP_REPLY if is_reply else STOP_REQUEST, number, b"")

    def send_request(self, number: int, oldest: int, method: bytes, payload: Sendable) -> None:
        outgoing = _Outgoing(number, False, payload)
        self._large.append(outgoing)
        self._queue(OPEN_REQUEST, number, OPEN.pack(outgoing.size, oldest) + method)

    def send_reply(self, number: int, payload: Sendable) -> None:
        outgoing = _Outgoing(number, True, payload)
        self._account.take_out(outgoing.size)
        self._large.append(outgoing)
        self._queue(OPEN_REPLY, number, OPEN.pack(outgoing.size, 0))

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
        frame = FRAME.pack(len(body), kind, number) + body
        self._small.append(frame)
        self._backlog_bytes += len(frame)
        self._account.take_out(len(frame))
        self.used = time.monotonic()
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    # -- sending -----------------------------------------------------------------------------------------------------

    async def write(self) -> None:
        """Send what is queued, for ever."""
        loop, sock = self._loop, self._socket
        scratch = bytearray()
        while True:
            while self._small:  # all of them: a chunk must not overtake its announcement
                await self._send_small()
            if not self._large:
                scratch = bytearray()
                self._wake = loop.create_future()
                await self._wake
                self._wake = None
                self.wrote = time.monotonic()
                continue
            outgoing = self._current = self._large.popleft()
            piece = outgoing.take()
            if not outgoing.is_done:
                self._large.append(outgoing)
            head = FRAME.pack(
                len(piece) + self._tag, CHUNK_REPLY if outgoing.is_reply else CHUNK_REQUEST, outgoing.number
            )
            try:
                if not self._tag:  # nothing to seal: straight from the caller's memory
                    await loop.sock_sendall(sock, head)
                    await loop.sock_sendall(sock, piece)
                else:
                    if not scratch:
                        scratch = bytearray(FRAME.size + CHUNK + self._tag)
                    end = len(head) + len(piece) + self._tag
                    with memoryview(scratch) as view:
                        view[: len(head)] = head
                        self._cipher.encrypt_into(nonce(self.sent), piece, head, view[len(head) : end])
                        self.sent += 1
                        await loop.sock_sendall(sock, view[:end])
            finally:
                self._current = None
                if outgoing.is_done:
                    self._over(outgoing)
            self.wrote = time.monotonic()

    async def _send_small(self) -> None:
        frames: list[bytes] = []
        size = 0
        while self._small and size < MAX_SMALL:
            frame = self._small.popleft()
            head, body = frame[: FRAME.size], frame[FRAME.size :]
            length, kind, number = FRAME.unpack(head)
            head = FRAME.pack(length + self._tag, kind, number)
            frames.append(head)
            frames.append(self._cipher.encrypt(nonce(self.sent), body, head))
            self.sent += 1
            size += len(frame)
        try:
            await self._loop.sock_sendall(self._socket, b"".join(frames))
        finally:
            self._account.free_out(size)
        self._backlog_bytes -= size
        self.wrote = time.monotonic()
        if self._drained is not None and not self._drained.done() and not self.is_full:
            self._drained.set_result(None)

    def close(self) -> None:
        """Free what it holds; only after `write` has ended."""
        for outgoing in self._large:
            self._over(outgoing)
        self._account.free_out(sum(map(len, self._small)))
        self._large.clear()
        self._small.clear()
