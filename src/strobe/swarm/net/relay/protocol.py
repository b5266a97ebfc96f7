"""What relays and those who use them say to each other: five requests, all inside the seals of ordinary sessions.

    relay.reserve    let others reach me through you, for a while
    relay.open       I want to talk to this peer: number the circuit, and tell me yours
    relay.incoming   (relay to sheltered peer) somebody wants to talk to you: number the circuit
    relay.link       (relay to either end) the other end waits on a TCP connection: connect to me, and say this number
    relay.dial_back  call me at my port as a stranger would, and tell me whether I answered

Each message is a msgpack array; types and sizes are checked while it is decoded, what does not fit is refused.
"""

from __future__ import annotations

import hmac
from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta

from strobe.swarm.net.identity import PEER_ID_BYTES
from strobe.swarm.net.network import Payload, PeerRefused
from strobe.swarm.net.packet import HEADER

RESERVE, OPEN, INCOMING, LINK, DIAL_BACK = (
    f"relay.{name}" for name in ("reserve", "open", "incoming", "link", "dial_back")
)
#: no request is longer, and no answer, with room for fields of later versions
MAX_REQUEST: Final = 1024
MAX_REPLY: Final = 1024
TOKEN_BYTES: Final = 16
#: what a relay says on a connection when the other end's has come: from here on they talk to each other
LINKED: Final = b"\x01"

_Id = Annotated[bytes, Meta(min_length=PEER_ID_BYTES, max_length=PEER_ID_BYTES)]
_Index = Annotated[int, Meta(ge=0, lt=1 << 32)]
_Number = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
_Token = Annotated[bytes, Meta(min_length=TOKEN_BYTES, max_length=TOKEN_BYTES)]
_Host = Annotated[str, Meta(max_length=45)]
_Port = Annotated[int, Meta(ge=1, le=65535)]
_Seconds = Annotated[float, Meta(gt=0)]


class Message(msgspec.Struct, array_like=True, gc=False):
    """Base of all messages: arrays on the wire."""


class Reserved(Message):
    """For how long the reservation holds."""

    for_s: _Seconds


class Open(Message):
    """Whom the sender wants to talk to, and its own index of the circuit."""

    to: _Id
    index: _Index


class Opened(Message):
    """The relay's index of the circuit at this end, and the secret that opens its connections."""

    index: _Index
    token: _Token


class Incoming(Message):
    """As Opened, for the other end; `of` is who asked, as the relay has verified."""

    of: _Id
    index: _Index
    token: _Token


class Accepted(Message):
    """The sheltered peer's own index of the circuit."""

    index: _Index


class Link(Message):
    """The receiver's index of the circuit, and the number by which the relay knows what the connection is for."""

    index: _Index
    number: _Number


class DialBack(Message):
    """The port that the sender listens at; its host is where the relay sees it."""

    port: _Port


class DialledBack(Message):
    """Whether the sender answered, and where the relay sees it."""

    is_reachable: bool
    host: _Host


_Kind = TypeVar("_Kind", bound=Message)
_decoders: Final[dict[type[Message], msgspec.msgpack.Decoder[Any]]] = {
    kind: msgspec.msgpack.Decoder(kind)
    for kind in (Reserved, Open, Opened, Incoming, Accepted, Link, DialBack, DialledBack)
}
encode = msgspec.msgpack.Encoder().encode


def decode(kind: type[_Kind], payload: Payload) -> _Kind:
    """Return a message; PeerRefused if it is none, which says so to whoever sent it when a handler raises it."""
    try:
        message: _Kind = _decoders[kind].decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise PeerRefused(f"this is no {kind.__name__}: {exc}") from exc
    return message


def link_packet(kind: int, index: int, number: int, token: bytes, tag_bytes: int) -> bytes:
    """Return what a connection to a relay begins with: as long as ATTACH, and proof that its sender has the token."""
    head = HEADER.pack(kind, index, number)
    return head + hmac.digest(token, head, "sha256")[:tag_bytes]
