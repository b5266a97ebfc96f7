"""Packets: what is outside the seal, in datagrams and at the beginning of a stream. docs/swarm-wire.md has the tables.

Pure layout: fixed structs, parsed or rejected as a whole. Knows no keys and no state.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from strobe.swarm.net.identity import PUBLIC_BYTES

INIT, ACCEPT, FINISH, RETRY, RESET, DATA, ATTACH, UP, DOWN, GONE, LINK, ANSWER = range(1, 13)

#: kind, suite, initiator's index, id dialled, id of the initiator, ephemeral key, nonce, cookie
_INIT = struct.Struct("<BBI20s20s32s16s16s")
#: kind, initiator's index, responder's index, ephemeral key, nonce; two seals follow
_ACCEPT = struct.Struct("<BII32s16s")
#: kind, responder's index; two seals follow
_FINISH = struct.Struct("<BI")
_RETRY = struct.Struct("<BI16s")
_RESET = struct.Struct("<BI")
#: kind, receiver's index, counter; the seal follows
HEADER = struct.Struct("<BIQ")
#: kind, receiver's index of a circuit; the packet that is passed on follows
RELAYED = struct.Struct("<BI")

COOKIE_BYTES = 16
NO_COOKIE = bytes(COOKIE_BYTES)
INIT_BYTES = _INIT.size
#: what a datagram holds wherever it goes: IPv6's least MTU less its headers
SAFE_BYTES = 1232


class Init(NamedTuple):
    """The first packet: somebody (unproven) wants to talk to `to`."""

    suite: int
    sender: int
    to: bytes
    claimed: bytes
    ephemeral: bytes
    nonce: bytes
    cookie: bytes

    def pack(self) -> bytes:
        return _INIT.pack(INIT, *self)

    @staticmethod
    def parse(packet: bytes) -> Init | None:
        return Init(*_INIT.unpack(packet)[1:]) if len(packet) == INIT_BYTES else None


class Accept(NamedTuple):
    """The answer: proves the responder."""

    receiver: int
    sender: int
    ephemeral: bytes
    nonce: bytes
    sealed: bytes

    def pack(self) -> bytes:
        return _ACCEPT.pack(ACCEPT, *self[:4]) + self.sealed

    @staticmethod
    def parse(packet: bytes, tag_bytes: int) -> Accept | None:
        if len(packet) != _ACCEPT.size + PUBLIC_BYTES + 2 * tag_bytes:
            return None
        _, receiver, sender, ephemeral, nonce = _ACCEPT.unpack_from(packet)
        return Accept(receiver, sender, ephemeral, nonce, packet[_ACCEPT.size :])


def finish_bytes(tag_bytes: int) -> int:
    return _FINISH.size + PUBLIC_BYTES + 2 * tag_bytes


def pack_finish(index: int, sealed: bytes) -> bytes:
    return _FINISH.pack(FINISH, index) + sealed


def parse_finish(packet: bytes, tag_bytes: int) -> tuple[int, bytes, bytes] | None:
    """Return the responder's index, what is sealed, and the packet that shares the datagram (or nothing)."""
    end = finish_bytes(tag_bytes)
    if len(packet) < end:
        return None
    return _FINISH.unpack_from(packet)[1], packet[_FINISH.size : end], packet[end:]


def pack_retry(index: int, cookie: bytes) -> bytes:
    return _RETRY.pack(RETRY, index, cookie)


def parse_retry(packet: bytes) -> tuple[int, bytes] | None:
    if len(packet) != _RETRY.size:
        return None
    _, index, cookie = _RETRY.unpack(packet)
    return index, cookie


def pack_reset(index: int) -> bytes:
    return _RESET.pack(RESET, index)


def parse_reset(packet: bytes) -> int | None:
    if len(packet) != _RESET.size:
        return None
    index: int = _RESET.unpack(packet)[1]
    return index
