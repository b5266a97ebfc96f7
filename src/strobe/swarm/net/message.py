"""Messages: what is inside the seal. Nearly all are about a request, which its sender numbered within the session.

    REQUEST    number, how far behind it the oldest unanswered one is, method, payload
    REPLY      number, payload
    REFUSED    number, busy or not, seconds until it makes sense to ask again, reason
    WORKING    number: the request is here and being worked on; no need to send it again soon
    CANCEL     number: the caller has lost interest
    ON_STREAM  number: the reply is too large for datagrams; send the request again on a stream to get it
    PART       number, request or reply, which part of how many: a piece of one of the above
    AGAIN      number: what became of this request? (never sent: the first part of a request that was seen says this)
    CHALLENGE  token: are you at the address where you get this? (about no request: its number is 0)
    PROOF      token: yes

Everything here comes from a peer that is authenticated, not trusted: parsers return None for what is malformed.
"""

from __future__ import annotations

import math
import struct

from strobe.swarm.net.network import PeerBusy, PeerRefused, Pieces, Sendable

REQUEST, REPLY, REFUSED, WORKING, CANCEL, ON_STREAM, PART, AGAIN, CHALLENGE, PROOF = range(1, 11)

HEAD = struct.Struct("<BI")
_REQUEST = struct.Struct("<BIHB")
_REFUSED = struct.Struct("<BIBf")
_PART = struct.Struct("<BIBBB")
#: bytes around the payload of a request with the longest method
OVERHEAD = _REQUEST.size + 64
MAX_METHOD = 64
MAX_PARTS = 16
TOKEN_BYTES = 8
_MAX_REASON = 500
_MAX_BEHIND = 0xFFFF


def request(number: int, oldest: int, method: bytes, payload: Sendable) -> bytes:
    head = _REQUEST.pack(REQUEST, number, min(number - oldest, _MAX_BEHIND), len(method))
    if isinstance(payload, Pieces):
        return b"".join((head, method, *payload.parts))
    return b"".join((head, method, payload))


def parse_request(message: bytes) -> tuple[int, int, bytes, bytes] | None:
    """Return number, oldest unanswered number, method, payload."""
    if len(message) < _REQUEST.size:
        return None
    _, number, behind, length = _REQUEST.unpack_from(message)
    start = _REQUEST.size + length
    if length > MAX_METHOD or len(message) < start or behind > number:
        return None
    # A peer that is more than 65,535 behind only keeps replies a little longer.
    return number, number - behind if behind < _MAX_BEHIND else 0, message[_REQUEST.size : start], message[start:]


def reply(number: int, payload: Sendable) -> bytes:
    head = HEAD.pack(REPLY, number)
    return b"".join((head, *payload.parts)) if isinstance(payload, Pieces) else head + payload


def refused(number: int, refusal: PeerRefused) -> bytes:
    after = math.nan if refusal.retry_after_s is None else refusal.retry_after_s
    reason = refusal.reason.encode(errors="replace")[:_MAX_REASON]
    return _REFUSED.pack(REFUSED, number, isinstance(refusal, PeerBusy), after) + reason


def parse_refused(message: bytes) -> PeerRefused | None:
    if len(message) < _REFUSED.size:
        return None
    _, _, busy, after = _REFUSED.unpack_from(message)
    reason = message[_REFUSED.size :][:_MAX_REASON].decode(errors="replace")
    known = after >= 0 and after < math.inf
    if busy:
        return PeerBusy(reason, after if known else 1.0)
    return PeerRefused(reason, after if known else None)


def note(kind: int, number: int) -> bytes:
    """Return a message that is nothing but its kind and number."""
    return HEAD.pack(kind, number)


def challenge(token: bytes) -> bytes:
    return HEAD.pack(CHALLENGE, 0) + token


def proof(token: bytes) -> bytes:
    return HEAD.pack(PROOF, 0) + token


def parse_part(message: bytes) -> tuple[int, bool, int, int] | None:
    """Return number, whether it is of a reply, which part, of how many."""
    if len(message) <= _PART.size:
        return None
    _, number, is_reply, index, count = _PART.unpack_from(message)
    if is_reply > 1 or not 1 < count <= MAX_PARTS or index >= count:
        return None
    return number, bool(is_reply), index, count


def parts(number: int, is_reply: bool, message: bytes, size: int) -> list[bytes]:
    """Cut a message that is too long for one datagram."""
    room = size - _PART.size
    count = -(-len(message) // room)
    if count > MAX_PARTS:
        raise ValueError(f"{len(message)} bytes are {count} parts of {room}, more than {MAX_PARTS}")
    return [_PART.pack(PART, number, is_reply, i, count) + message[i * room : (i + 1) * room] for i in range(count)]


class Assembly:
    """Messages of which some parts have come: few, small, forgotten when newer ones push them out or none come."""

    __slots__ = ("_is_growing", "_pieces")

    def __init__(self) -> None:
        self._pieces: dict[tuple[int, bool], list[bytes | None]] = {}
        self._is_growing = False

    def add(self, part: bytes, room_for: int = 16) -> bytes | None:
        """Return the message that this part completes."""
        parsed = parse_part(part)
        if parsed is None:
            return None
        number, is_reply, index, count = parsed
        key = (number, is_reply)
        pieces = self._pieces.get(key)
        if pieces is None:
            while len(self._pieces) >= room_for:
                del self._pieces[next(iter(self._pieces))]
            pieces = self._pieces[key] = [None] * count
        if len(pieces) != count:
            return None
        self._is_growing = True
        pieces[index] = part[_PART.size :]
        if None in pieces:
            return None
        del self._pieces[key]
        return b"".join(piece for piece in pieces if piece is not None)

    def sweep(self) -> None:
        """Forget all if nothing was added since the last sweep: parts that are sent again come sooner."""
        if not self._is_growing:
            self._pieces.clear()
        self._is_growing = False

    def __len__(self) -> int:
        return len(self._pieces)
