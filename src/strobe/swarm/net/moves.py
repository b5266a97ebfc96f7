"""Peers that are heard from another address, as when a NAT has given them another port: followed once they prove it.

Where a packet comes from is written on it by its sender. A peer that is believed at once can have our answers sent to
somebody else, and that address handed on as its own. So a token goes to the new address first, and what the peer said
from there waits for one round trip, until it has sent the token back. Until then the new address gets one short packet
for each that came from it, and the session stays where it was.
"""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Callable

from strobe.swarm.net import message as m
from strobe.swarm.net.ports import Port, SocketAddress
from strobe.swarm.net.session import Session
from strobe.swarm.net.sessions import Sessions

_PROOF_S = 5.0
#: what may wait for a proof; its sender repeats the rest
_MAX_BYTES = 128 << 10


class Elsewhere:
    """An address that a peer has yet to prove, the token sent there, and what the peer said from there."""

    __slots__ = ("_num_bytes", "address", "expires_at", "messages", "token")

    def __init__(self, address: SocketAddress, token: bytes, expires_at: float) -> None:
        self.address = address
        self.token = token
        self.expires_at = expires_at
        self.messages: list[bytes] = []
        self._num_bytes = 0

    def keep(self, message: bytes) -> None:
        self._num_bytes += sys.getsizeof(message)
        if self._num_bytes <= _MAX_BYTES:
            self.messages.append(message)


class Moves:
    """The moves of one network's peers. `on_message` takes what they said, once it is known where they are."""

    def __init__(self, sessions: Sessions, on_message: Callable[[Session, bytes], None]) -> None:
        self._sessions = sessions
        self._on_message = on_message

    def on_elsewhere(self, session: Session, message: bytes, source: SocketAddress, port: Port) -> None:
        """Take a message that came from another address than the session's."""
        if port is not session.port or session.is_dialled or message[0] == m.PROOF:
            # Answered where we dialled the peer, or know it to be, whatever the source.
            self._on_message(session, message)
            return
        now = time.monotonic()
        place = session.elsewhere
        if place is None or place.address != source or place.expires_at < now:
            place = session.elsewhere = Elsewhere(source, secrets.token_bytes(m.TOKEN_BYTES), now + _PROOF_S)
        place.keep(message)
        port.send(session.seal(m.challenge(place.token)), source)

    def on_proof(self, session: Session, token: bytes) -> None:
        place = session.elsewhere
        if place is None or place.token != token or place.expires_at < time.monotonic():
            return
        session.elsewhere = None
        self._sessions.move(session, place.address)
        for message in place.messages:
            self._on_message(session, message)
