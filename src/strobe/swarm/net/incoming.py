"""Where what comes in goes: packets by their first byte, messages of a session by theirs.

What is sealed goes to the session that opens it; all else may be anybody's, and is left to handshakes and relaying,
which bear that. Has no sockets and does not wait for anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from strobe.swarm.net import message as m
from strobe.swarm.net import packet as p
from strobe.swarm.net.calls import Call, Calls
from strobe.swarm.net.flow import TokenBucket
from strobe.swarm.net.handshakes import Handshakes
from strobe.swarm.net.moves import Moves
from strobe.swarm.net.ports import Port, SocketAddress
from strobe.swarm.net.relay.path import RelayPath
from strobe.swarm.net.relay.relaying import Relaying
from strobe.swarm.net.serving import Serving
from strobe.swarm.net.session import Session
from strobe.swarm.net.sessions import Sessions
from strobe.swarm.net.stream import Stream

_RESETS_PER_S = 100.0


class Incoming:
    """What comes to one network. `on_session_lost` gets the calls of a session that the peer does not know any more."""

    def __init__(
        self,
        sessions: Sessions,
        handshakes: Handshakes,
        relaying: Relaying,
        serving: Serving,
        calls: Calls,
        on_session_lost: Callable[[Session, list[Call]], None],
    ) -> None:
        self._moves = Moves(sessions, self.on_message)
        self._sessions = sessions
        self._indices = sessions.indices
        self._handshakes = handshakes
        self._relaying = relaying
        self._serving = serving
        self._calls = calls
        self._on_session_lost = on_session_lost
        # One for each direction: junk that makes us send RESETs must not keep us from believing those of peers.
        self._resets_out = TokenBucket(_RESETS_PER_S, _RESETS_PER_S, time.monotonic())
        self._resets_in = TokenBucket(_RESETS_PER_S, _RESETS_PER_S, time.monotonic())
        #: whether strangers that come by themselves, not through a relay, are answered
        self.takes_strangers = True

    def on_datagram(self, packet: bytes, source: SocketAddress, port: Port) -> None:
        """Take what came by a port."""
        kind = packet[0] if packet else 0
        if kind == p.DATA:
            if len(packet) < p.HEADER.size:
                return
            _, index, counter = p.HEADER.unpack_from(packet)
            session = self._indices.get(index)
            if type(session) is not Session:
                self._reset(index, source, port)
                return
            message = session.open(packet, counter)
            if message is not None:
                if source == session.address:
                    session.port = port  # a way through a relay may have been forgotten, and made anew
                    self.on_message(session, message)
                else:
                    self._moves.on_elsewhere(session, message, source, port)
        elif kind == p.FINISH:
            rest = self._handshakes.on_finish(packet, source, port, time.monotonic())
            if rest and rest[0] == p.DATA:
                self.on_datagram(rest, source, port)
        elif kind == p.INIT:
            if self.takes_strangers or isinstance(port, RelayPath) or self._relaying.is_shelter(source):
                self._handshakes.on_init(packet, source, port, time.monotonic())
        elif kind == p.ACCEPT:
            self._handshakes.on_accept(packet, time.monotonic())
        elif kind == p.RETRY:
            self._handshakes.on_retry(packet, time.monotonic())
        elif kind == p.RESET:
            self._on_reset(packet, source)
        else:
            self._relaying.on_packet(kind, packet, source, port)

    def on_message(self, session: Session, message: bytes, way: Stream | None = None) -> None:
        """Take what a session has opened, or a stream of it."""
        kind, number = m.HEAD.unpack_from(message)
        if kind == m.REQUEST:
            self._serving.on_request(session, message, time.monotonic(), way)
        elif kind == m.REPLY:
            self._calls.replied(session, number, message[m.HEAD.size :])
        elif kind == m.REFUSED:
            refusal = m.parse_refused(message)
            if refusal is not None:
                self._calls.refused(session, number, refusal)
        elif kind == m.WORKING:
            self._calls.working(session, number)
        elif kind == m.ON_STREAM:
            self._calls.reply_on_stream(session, number)
        elif kind == m.AGAIN:
            self._serving.is_new(session, number, time.monotonic(), way)
        elif kind == m.CANCEL:
            for stream in session.streams:
                stream.give_up(number, is_reply=False)
                stream.out.stop(number, is_reply=True)
            self._serving.cancel(session, number)
        elif kind == m.CHALLENGE:
            if len(message) == m.HEAD.size + m.TOKEN_BYTES:
                session.send(m.proof(message[m.HEAD.size :]))
        elif kind == m.PROOF:
            self._moves.on_proof(session, message[m.HEAD.size :])

    # -- sessions that one side has forgotten ------------------------------------------------------------------------

    def _reset(self, index: int, source: SocketAddress, port: Port) -> None:
        """Tell somebody that its session is not known here; shorter than what it sent, and not often."""
        if index not in self._indices and self._resets_out.take(time.monotonic()):
            port.send(p.pack_reset(index), source)

    def _on_reset(self, packet: bytes, source: SocketAddress) -> None:
        # Anybody may have sent it. It only makes this side shake hands again, and only if it waits for that peer.
        index = p.parse_reset(packet)
        session = None if index is None else self._sessions.known_as(index)
        if session is None or session.address[:2] != source[:2] or not (session.calls or session.waiting):
            return
        if self._resets_in.take(time.monotonic()):
            self._on_session_lost(session, self._calls.take_back(session))
