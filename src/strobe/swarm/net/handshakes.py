"""The door: handshakes under way, out and in, and what strangers may cost while they are strangers.

A stranger's first packet costs a bounded table entry and at most one answer shorter than twice itself; with the table
half full it first has to prove its address by sending back a cookie, for which nothing is kept, and those of one
network get only a part of what there is. When two peers dial each other at once, the dial of the lower id counts, if it
is answered. Owns no sockets and no timer: packets and time are arguments.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from strobe.swarm.net import packet as p
from strobe.swarm.net.account import Account
from strobe.swarm.net.cipher import Suite
from strobe.swarm.net.flow import RoundTrip, TokenBucket
from strobe.swarm.net.handshake import Ephemeral, HandshakeFailed, Initiator, Keys, Responder
from strobe.swarm.net.identity import Identity
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.neighbourhoods import Neighbourhoods
from strobe.swarm.net.network import Contact, PeerId
from strobe.swarm.net.ports import Port, SocketAddress, is_loopback
from strobe.swarm.net.session import Session

if TYPE_CHECKING:
    from strobe.swarm.net.calls import Call

_EPHEMERAL_S = 10.0
_COOKIE_S = 60.0
_HALF_OPEN_S = 5.0
#: of handshakes, and of places for them, that one neighbourhood gets when strangers have to prove their addresses
_MAX_SHARE = 0.25
#: as long as nobody has answered; afterwards as long as answers take
_FIRST_RESEND_S = 0.2
_MOST_RESEND_S = 4.0
_MAX_FORGERIES = 8
#: first packets after which the other side seems to answer no strangers: then its own dial is answered instead
_MAX_SENDS_ALONE = 2


class Dial:
    """A handshake that this side began, and the calls that wait for it."""

    __slots__ = (
        "address",
        "begun_at",
        "calls",
        "contact",
        "failure",
        "failures",
        "initiator",
        "interval_s",
        "is_first_try",
        "port",
        "resend_at",
        "sends",
        "sent_at",
    )

    def __init__(self, initiator: Initiator, contact: Contact, port: Port, address: SocketAddress, now: float) -> None:
        self.initiator = initiator
        self.begun_at = now
        self.contact = contact
        self.port = port
        self.address = address
        self.calls: list[Call] = []
        #: how long the latest sending is waited for
        self.interval_s = 0.0
        self.sends = 0
        #: for the first time
        self.sent_at = 0.0
        #: not before its turn has come
        self.resend_at = math.inf
        self.is_first_try = False
        self.failures = 0
        self.failure = ""

    def send(self, now: float, patience_s: float) -> None:
        """Send the first packet, and wait for the answer for twice as long each time, at least for `patience_s`."""
        self.port.send(self.initiator.init.pack(), self.address)
        if not self.sends:
            self.sent_at = now
        self.sends += 1
        self.interval_s = min(max(self.interval_s * 2, patience_s), _MOST_RESEND_S)
        self.resend_at = now + self.interval_s


class HalfOpen:
    """A handshake that a stranger began."""

    __slots__ = ("answered_at", "answers", "key", "responder")

    def __init__(self, responder: Responder, key: tuple[SocketAddress, int], now: float) -> None:
        self.responder = responder
        self.key = key
        #: for the first time
        self.answered_at = now
        self.answers = 1


class Handshakes:
    """All handshakes of one network. `indices` is shared: every index of this side, and what it stands for."""

    def __init__(
        self,
        identity: Identity,
        suite: Suite,
        limits: Limits,
        indices: dict[int, Session | Dial | HalfOpen],
        account_of: Callable[[PeerId, float], Account],
        established: Callable[[Session, list[Call]], None],
        now: float,
    ) -> None:
        self._identity = identity
        self._suite = suite
        self._limits = limits
        self._indices = indices
        self._account_of = account_of
        self._established = established
        self._ephemeral: Ephemeral | None = None
        self._bucket = TokenBucket(limits.handshakes_per_s, limits.handshakes_per_s, now)
        share = limits.handshakes_per_s * _MAX_SHARE, limits.max_half_open * _MAX_SHARE
        self._neighbourhoods = Neighbourhoods(*share)
        self._cookie_secrets = (secrets.token_bytes(32), secrets.token_bytes(32))
        self._cookie_since = now
        self._half_open: dict[tuple[SocketAddress, int], int] = {}
        self.dials: dict[Contact, Dial] = {}
        self._queue: deque[Dial] = deque()
        self._first_tries = 0
        #: how long answers to first packets take, whoever gives them: what is late here is late for all
        self._round_trip = RoundTrip(_FIRST_RESEND_S)
        self.resends = 0
        self.completed = 0
        self.rejected = 0

    # -- out ---------------------------------------------------------------------------------------------------------

    def dial(self, contact: Contact, port: Port, address: SocketAddress, now: float) -> Dial:
        """Return the handshake under way with a contact, begun now if there is none."""
        dial = self.dials.get(contact)
        if dial is None:
            dial = self.dials[contact] = Dial(self._initiator(contact.id, now), contact, port, address, now)
            self._indices[dial.initiator.init.sender] = dial
            self._queue.append(dial)
            self._send_queued(now)
        return dial

    def _initiator(self, to: PeerId, now: float) -> Initiator:
        return Initiator.begin(self._suite, self._identity, self._current_ephemeral(now), to, self._new_index())

    def _send(self, dial: Dial, now: float) -> None:
        if now - dial.begun_at > _EPHEMERAL_S or dial.failures >= _MAX_FORGERIES:
            # Begin anew: the key is not to be kept, the cookie may be too old, and who forges answers knows the index.
            del self._indices[dial.initiator.init.sender]
            dial.initiator, dial.begun_at, dial.failures = self._initiator(dial.contact.id, now), now, 0
            self._indices[dial.initiator.init.sender] = dial
        dial.send(now, self._round_trip.timeout_s)

    def _send_queued(self, now: float) -> None:
        while self._queue and self._first_tries < self._limits.max_dials:
            dial = self._queue.popleft()
            if self.dials.get(dial.contact) is dial:
                self._first_tries += 1
                dial.is_first_try = True
                self._send(dial, now)

    def _leave_first_try(self, dial: Dial, now: float) -> None:
        if dial.is_first_try:
            dial.is_first_try = False
            self._first_tries -= 1
            self._send_queued(now)

    def _give_up(self, dial: Dial, now: float) -> None:
        if self.dials.pop(dial.contact, None) is not None:
            del self._indices[dial.initiator.init.sender]
            self._leave_first_try(dial, now)

    def tick(self, now: float) -> None:
        """Send again what was not answered; forget dials that nobody waits for any more."""
        for dial in list(self.dials.values()):
            if not any(not call.future.done() for call in dial.calls):
                self._give_up(dial, now)
            elif now >= dial.resend_at:
                self._leave_first_try(dial, now)  # who does not answer does not keep others waiting
                self.resends += 1
                self._send(dial, now)

    def sweep(self, now: float) -> None:
        for key, index in list(self._half_open.items()):
            entry = self._indices[index]
            assert isinstance(entry, HalfOpen)
            if now < entry.answered_at + _HALF_OPEN_S:
                break
            self._forget(key, index)
        if self._ephemeral is not None and now - self._ephemeral.born > _EPHEMERAL_S:
            self._ephemeral = None

    # -- in ----------------------------------------------------------------------------------------------------------

    def on_init(self, packet: bytes, source: SocketAddress, port: Port, now: float) -> None:
        init = p.Init.parse(packet)
        if init is None or init.to != self._identity.peer_id or init.suite != self._suite.code:
            self.rejected += 1
            return
        key = (source, init.sender)
        known = self._half_open.get(key)
        if known is not None:  # our answer was lost
            entry = self._indices[known]
            assert isinstance(entry, HalfOpen)
            entry.answers += 1
            port.send(entry.responder.accept, source)
            return
        if init.claimed == self._identity.peer_id:
            self.rejected += 1
            return
        dial = self.dials.get(port.contact(PeerId(init.claimed), source))
        if dial is not None:
            if self._identity.peer_id < init.claimed and dial.sends <= _MAX_SENDS_ALONE:
                return  # the other side answers our dial, and drops its own
            dial.resend_at = max(dial.resend_at, now + dial.interval_s)
        if not self._admits(init, source, port, now):
            return
        index = self._new_index()
        try:
            responder = Responder(self._suite, self._identity, self._current_ephemeral(now), init, index)
        except HandshakeFailed:
            self.rejected += 1
            return
        self._half_open[key] = index
        self._indices[index] = HalfOpen(responder, key, now)
        port.send(responder.accept, source)

    def on_retry(self, packet: bytes, now: float) -> None:
        parsed = p.parse_retry(packet)
        if parsed is None:
            return
        index, cookie = parsed
        dial = self._indices.get(index)
        if isinstance(dial, Dial) and dial.initiator.init.cookie == p.NO_COOKIE:
            initiator = dial.initiator
            init = initiator.init._replace(cookie=cookie)
            dial.initiator = Initiator(initiator.suite, initiator.identity, initiator.ephemeral, init)
            dial.sends = 0  # only what was sent with the cookie can be accepted now
            dial.send(now, self._round_trip.timeout_s)

    def on_accept(self, packet: bytes, now: float) -> None:
        accept = p.Accept.parse(packet, self._suite.tag_bytes)
        dial = self._indices.get(accept.receiver) if accept is not None else None
        if accept is None or not isinstance(dial, Dial) or dial.failures >= _MAX_FORGERIES:
            self.rejected += 1
            return
        try:
            finish, keys = dial.initiator.finish(accept)
        except HandshakeFailed as exc:
            # Anybody may have sent it: the peer itself can still answer.
            dial.failures += 1
            dial.failure = str(exc)
            self.rejected += 1
            return
        index = dial.initiator.init.sender
        self._give_up(dial, now)
        session = self._session(keys, index, accept.sender, dial.port, dial.address, now)
        session.finish = finish
        session.is_dialled = True
        self._round_trip.learn(now - dial.sent_at, dial.sends)
        session.round_trip.learn(now - dial.sent_at, dial.sends)
        self._established(session, dial.calls)

    def on_finish(self, packet: bytes, source: SocketAddress, port: Port, now: float) -> bytes:
        """Return the packet that shares the datagram."""
        parsed = p.parse_finish(packet, self._suite.tag_bytes)
        if parsed is None:
            self.rejected += 1
            return b""
        index, sealed, rest = parsed
        entry = self._indices.get(index)
        if isinstance(entry, HalfOpen) and entry.key[0] == source:
            self._forget(entry.key, index)
            try:
                keys = entry.responder.finish(sealed)
            except HandshakeFailed:
                self.rejected += 1
                return b""
            session = self._session(keys, index, entry.responder.remote_index, port, source, now)
            session.round_trip.learn(now - entry.answered_at, entry.answers)
            dial = self.dials.get(session.contact)
            if dial is not None:
                self._give_up(dial, now)
            self._established(session, dial.calls if dial is not None else [])
        return rest

    # -- parts -------------------------------------------------------------------------------------------------------

    def _session(
        self, keys: Keys, index: int, remote_index: int, port: Port, address: SocketAddress, now: float
    ) -> Session:
        self.completed += 1
        session = Session(
            suite=self._suite,
            keys=keys,
            index=index,
            remote_index=remote_index,
            port=port,
            address=address,
            account=self._account_of(keys.peer_id, now),
            limits=self._limits,
            now=now,
        )
        session.round_trip.timeout_s = self._round_trip.timeout_s  # until it knows better itself
        self._indices[index] = session
        return session

    def _admits(self, init: p.Init, source: SocketAddress, port: Port, now: float) -> bool:
        """Tell whether a stranger gets an answer now; it may get a cookie instead."""
        if len(self._half_open) * 2 >= self._limits.max_half_open:
            if not self._is_cookie(init, source, now):
                port.send(p.pack_retry(init.sender, self._cookie(self._cookie_secrets[0], init, source)), source)
                return False
            if not is_loopback(source[0]) and not self._neighbourhoods.take(source[0], now):
                self.rejected += 1
                return False
            if len(self._half_open) >= self._limits.max_half_open:
                key, index = next(iter(self._half_open.items()))
                self._forget(key, index)
        if not self._bucket.take(now):
            self.rejected += 1
            return False
        return True

    def _is_cookie(self, init: p.Init, source: SocketAddress, now: float) -> bool:
        if now - self._cookie_since > _COOKIE_S:
            self._cookie_secrets = (secrets.token_bytes(32), self._cookie_secrets[0])
            self._cookie_since = now
        return any(
            secrets.compare_digest(self._cookie(secret, init, source), init.cookie) for secret in self._cookie_secrets
        )

    @staticmethod
    def _cookie(secret: bytes, init: p.Init, source: SocketAddress) -> bytes:
        place = f"{source[0]} {source[1]} ".encode() + init.nonce + init.ephemeral
        return hashlib.blake2b(place, key=secret, digest_size=p.COOKIE_BYTES).digest()

    def _forget(self, key: tuple[SocketAddress, int], index: int) -> None:
        del self._half_open[key]
        del self._indices[index]

    def _new_index(self) -> int:
        while (index := secrets.randbits(32)) in self._indices:
            pass
        return index

    def _current_ephemeral(self, now: float) -> Ephemeral:
        if self._ephemeral is None or now - self._ephemeral.born > _EPHEMERAL_S:
            self._ephemeral = Ephemeral(now)
        return self._ephemeral

    @property
    def num_half_open(self) -> int:
        return len(self._half_open)
