"""Bodies: never more bytes than allowed, neither as they come in nor after decompression, and not for ever.

Limits hold while a body streams, whatever its headers claim: chunked bodies have no length, and a few kilobytes of gzip
can become gigabytes.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import AsyncIterator

import anyio
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope

from strobe.server.problem import Problem

#: a sender that sends nothing for so long is gone, or wants to hold a connection
_SILENCE_S = 60.0
#: and one that sends less than this in a second, on the whole, holds one too
_SLOWEST_BYTES_PER_S = 128.0
_PIECE_BYTES = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS


class LimitedReceive:
    """An ASGI `receive` that raises a 413 past the limit, and a 408 when nothing comes any more, or next to nothing."""

    def __init__(self, scope: Scope, receive: Receive, *, max_bytes: int, silence_s: float = _SILENCE_S) -> None:
        self._receive = receive
        self._max_bytes = max_bytes
        self._silence_s = silence_s
        self.num_bytes = 0
        self._waited_s = 0.0
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length) > max_bytes:
            raise _too_large(f"the body has {length} bytes", max_bytes)

    async def __call__(self) -> Message:
        # Time in which it is we who are slow does not count.
        patience_s = self._silence_s + self.num_bytes / _SLOWEST_BYTES_PER_S - self._waited_s
        began = time.monotonic()
        try:
            with anyio.fail_after(min(self._silence_s, max(0.0, patience_s))):
                message = await self._receive()
        except TimeoutError:
            raise Problem(
                408, detail=f"the body stopped, or came too slowly, for {self._silence_s:g} s; send it again",
                headers={"Connection": "close"},
            ) from None  # fmt: skip
        self._waited_s += time.monotonic() - began
        if message["type"] == "http.request":
            self.num_bytes += len(message.get("body", b""))
            if self.num_bytes > self._max_bytes:
                raise _too_large("the body goes on", self._max_bytes)
        return message


async def decompressed(pieces: AsyncIterator[bytes], encoding: str, *, max_bytes: int) -> AsyncIterator[bytes]:
    """Yield a body without its `Content-Encoding` in pieces of at most a megabyte, `max_bytes` in all."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        async for piece in pieces:
            yield piece
        return
    if encoding not in ("gzip", "x-gzip"):
        raise Problem(415, detail=f"the body has Content-Encoding {encoding!r}; send gzip or none")
    total = 0
    unpacker = zlib.decompressobj(_GZIP)
    is_begun = False
    async for piece in pieces:
        packed = piece
        while packed:
            if unpacker.eof:  # another member follows: the output of `cat a.gz b.gz` is a gzip file too
                unpacker = zlib.decompressobj(_GZIP)
            is_begun = True
            try:
                plain = unpacker.decompress(packed, _PIECE_BYTES)
            except zlib.error as error:
                raise Problem(400, detail=f"the body is not gzip, as it claims: {error}") from error
            total += len(plain)
            if total > max_bytes:
                raise _too_large("the body decompresses to more", max_bytes)
            if plain:
                yield plain
            packed = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
    if is_begun and not unpacker.eof:
        raise Problem(400, detail="the body ends in the middle of its gzip stream; send it again")


def _too_large(what: str, max_bytes: int) -> Problem:
    # The rest of the body is not read, so nothing else can come over this connection.
    detail = f"{what}; at most {max_bytes} bytes are taken here, send it in parts"
    return Problem(413, detail=detail, headers={"Connection": "close"})
