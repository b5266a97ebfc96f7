"""What nodes tell each other, and the line that they do it over: messages are lines of JSON on a TCP connection.

Who says what, and when, is not known here (`nodes`).
"""

from __future__ import annotations

import select
import socket

import msgspec

from strobe.bench.runner.message import Meeting, Outcome

#: for the other end to take a message, or to say who it is
SEND_LIMIT_S = 20.0
_MAX_BYTES = 1 << 20


class Hello(msgspec.Struct, frozen=True, tag=True):
    """Who it is that has connected."""

    node: int


class Turn(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """One repeat of one row; `seal` is that of node 0's code."""

    number: int
    key: str
    batch_size: int
    seal: str
    #: of the row, from 0
    repeat: int
    meeting: Meeting


class CallOff(msgspec.Struct, frozen=True, tag=True):
    """A turn has failed elsewhere."""

    number: int


class End(msgspec.Struct, frozen=True, tag=True):
    """No turn comes any more."""


class Done(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A node is done with a turn: what its ranks found, or how it failed."""

    number: int
    found: Outcome | str


Message = Hello | Turn | CallOff | End | Done


class Gone(Exception):
    """Nobody is at the other end any more, or somebody who does not speak as we do."""


class Line:
    """Messages over a connection, whole ones only."""

    def __init__(self, connection: socket.socket) -> None:
        # A machine that lost its power never says goodbye.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
        connection.settimeout(SEND_LIMIT_S)
        self._connection = connection
        self._buffer = b""

    def send(self, message: Message) -> None:
        try:
            self._connection.sendall(msgspec.json.encode(message) + b"\n")
        except OSError as exc:
            raise Gone(str(exc)) from exc

    def receive(self, wait_s: float | None = 0.0) -> Message | None:
        """Return the next message, None if there is none in time; None waits for ever. Raises Gone."""
        while b"\n" not in self._buffer:
            if not select.select([self._connection], [], [], wait_s)[0]:
                return None
            try:
                part = self._connection.recv(1 << 16)
            except OSError as exc:
                raise Gone(str(exc)) from exc
            if not part or len(self._buffer) > _MAX_BYTES:
                raise Gone("the connection was closed")
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\n")
        try:
            # mypy knows no union as the type of a type.
            message: Message = msgspec.json.decode(text, type=Message)
        except msgspec.DecodeError as exc:
            raise Gone(f"it says what is no message ({exc})") from exc
        return message

    def close(self) -> None:
        self._connection.close()
