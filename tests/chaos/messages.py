"""Just enough of HTTP/1.1 to take requests from a client and answers from a server as the bytes they are."""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass

_LIMIT = 1 << 16
_RESET = struct.pack("ii", 1, 0)


@dataclass
class Request:
    """A request whose head has come; `body` may still be on its way."""

    head: bytes
    length: int
    reader: asyncio.StreamReader
    body: bytes = b""

    @property
    def line(self) -> str:
        return self.head.split(b"\r\n", 1)[0].decode("latin-1").rpartition(" ")[0]

    async def read(self, upto: int | None = None) -> bytes:
        """Wait for the body, or its first `upto` bytes."""
        wanted = min(self.length, self.length if upto is None else upto) - len(self.body)
        if wanted > 0:
            self.body += await self.reader.readexactly(wanted)
        return self.body


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Return the next request of a connection, None when the client has closed it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return Request(head, int(_field(head, b"content-length") or 0), reader)


async def exchange(port: int, head: bytes, body: bytes, *, only: int | None = None) -> bytes:
    """Send a request to the server and return all of its answer; with `only`, send that much of it and vanish."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=_LIMIT)
    try:
        writer.write(_without(head, b"connection")[:-2] + b"Connection: close\r\n\r\n" + body[:only])
        await writer.drain()
        if only is not None:
            await asyncio.sleep(0.02)  # so that some of it arrives before the end does
            return b""
        return _without_close(await reader.read())
    finally:
        abort(writer)


def abort(writer: asyncio.StreamWriter) -> None:
    """End a connection at once: whoever reads at the other side gets a reset, not an end."""
    connection = writer.get_extra_info("socket")
    if connection is not None and connection.fileno() >= 0:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.close()


def answer(status: int, body: bytes = b"{}", **headers: str) -> bytes:
    """Return an answer as bytes."""
    lines = [f"HTTP/1.1 {status} Chaos", f"Content-Length: {len(body)}", "Content-Type: application/json"]
    lines += [f"{name.replace('_', '-')}: {text}" for name, text in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _field(head: bytes, name: bytes) -> bytes | None:
    for line in head.split(b"\r\n")[1:]:
        key, _, text = line.partition(b":")
        if key.strip().lower() == name:
            return text.strip()
    return None


def _without(head: bytes, name: bytes) -> bytes:
    return b"\r\n".join(line for line in head.split(b"\r\n") if line.partition(b":")[0].strip().lower() != name)


def _without_close(response: bytes) -> bytes:
    """Return the answer without the word that the connection ends with it: that of the client goes on."""
    head, separator, body = response.partition(b"\r\n\r\n")
    return _without(head, b"connection") + separator + body
