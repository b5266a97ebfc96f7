"""`PeerNetwork`: a peer on real sockets, which is the `Network` that everything above talks through.

Brings together the ports, the handshakes, the sessions, what is asked and what is answered; finds whom a call is for,
begins anew with a peer that was lost, and tells all parts when time has passed. All state belongs to one event loop.
"""

from __future__ import annotations

import asyncio
import functools
import socket
import time
from collections.abc import Sequence
from dataclasses import replace

from strobe.errors import UsageError
from strobe.swarm.net import message as m
from strobe.swarm.net.address import MAX_HOSTS, Address
from strobe.swarm.net.calls import MAX_MOVES, Call, Calls
from strobe.swarm.net.cipher import AES_GCM, Suite
from strobe.swarm.net.handshakes import Dial, Handshakes
from strobe.swarm.net.identity import Identity
from strobe.swarm.net.incoming import Incoming
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.listening import default_hosts, hosts_of, named_hosts, this_machine
from strobe.swarm.net.network import Contact, Handler, NetworkError, Payload, PeerRefused, PeerUnreachable, Sendable
from strobe.swarm.net.ports import DatagramPort, OpenPort, bind
from strobe.swarm.net.relay.limits import RelayLimits
from strobe.swarm.net.relay.path import RelayPath
from strobe.swarm.net.relay.relaying import Relaying
from strobe.swarm.net.serving import Serving
from strobe.swarm.net.session import Session
from strobe.swarm.net.sessions import Sessions
from strobe.swarm.net.streams import Streams
from strobe.swarm.net.ways import Ways

_TICK_S = 0.02
_SWEEP_S = 4.0


class PeerNetwork:
    """One peer. Make it with `await PeerNetwork.listen(identity)`."""

    def __init__(
        self,
        identity: Identity,
        sockets: list[tuple[socket.socket, socket.socket]],
        suite: Suite,
        limits: Limits,
        open_port: OpenPort = DatagramPort,
        peers: Sequence[str] = (),
    ) -> None:
        now = time.monotonic()
        self._identity = identity
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._sessions = Sessions(identity.peer_id, limits)
        self.serving = Serving(limits, self._sessions.accounts.all)
        self.calls = Calls(limits, self._to_stream)
        self.handshakes = Handshakes(
            identity, suite, limits, self._sessions.indices, self._sessions.accounts.of, self._on_established, now
        )
        self.relaying = Relaying(self, suite.tag_bytes)
        self.incoming = Incoming(
            self._sessions, self.handshakes, self.relaying, self.serving, self.calls, self._on_session_lost
        )
        self.streams = Streams(
            suite,
            identity.peer_id,
            limits,
            self.calls,
            self.serving,
            self._sessions.at,
            self.incoming.on_message,
            self._on_session_lost,
            self.relaying.on_first_packet,
        )
        self._suite = suite
        self._ports = [open_port(datagrams, self.incoming.on_datagram) for datagrams, _ in sockets]
        self._listeners = [listener for _, listener in sockets]
        self.ways = Ways(self._ports)
        self._timer: asyncio.TimerHandle | None = None
        self._sweeper: asyncio.TimerHandle | None = None
        self._tick_due = 0.0
        self._is_late = False
        self._closed = False
        bound = [port.host for port in self._ports]
        #: whether our address names a host where others reach us, if we listen for them
        self.has_named_host = bool(hosts := named_hosts(bound, peers))
        self._address = Address(identity.peer_id, hosts or this_machine(bound), self._listeners[0].getsockname()[1])

    @classmethod
    async def listen(
        cls,
        identity: Identity,
        hosts: Sequence[str] | None = None,
        port: int = 0,
        *,
        peers: Sequence[Address] = (),
        announce: Sequence[str] = (),
        limits: Limits | None = None,
        suite: Suite = AES_GCM,
        open_port: OpenPort = DatagramPort,
        relay: RelayLimits | bool = False,
        relays: Sequence[Address] = (),
        reachable: bool | None = None,
    ) -> PeerNetwork:
        """Return a peer that listens at every host with one port number (0: a free one), UDP and TCP.

        Without `hosts` it listens where `peers` and `relays` reach it: at all of this machine's addresses, or on this
        machine only if they are all there, or if there are none.

        `announce` are the hosts that its address names when others know it by other names than it binds. `open_port`
        makes the ports that datagrams go through: for tests and benchmarks on paths that are worse than loopback.

        `relay` offers to relay for others. `relays` are peers that do so for this one if it is not `reachable`, which
        it finds out from them unless it is told. A peer that is not answers nobody but its relays, and its own calls.
        """
        if hosts is not None and not hosts:
            raise UsageError('no host to listen at; give one, such as "127.0.0.1" or "::"')
        others = await hosts_of([*peers, *relays])
        sockets = bind(default_hosts(others) if hosts is None else tuple(hosts), port)
        network = cls(identity, sockets, suite, limits or Limits(), open_port, others)
        if announce:
            network.has_named_host = True
            network._address = Address(identity.peer_id, tuple(announce), network._address.port)
        for datagrams in network._ports:
            await datagrams.start(network._loop)
        for listener in network._listeners:
            network.streams.listen(listener)
        network._sweeper = network._loop.call_later(_SWEEP_S, network._sweep)
        if relay:
            network.relaying.offer(RelayLimits() if relay is True else relay)
        try:
            await network._find_place(relays, True if announce and reachable is None else reachable)
        except BaseException:
            await network.close()
            raise
        return network

    async def _find_place(self, relays: Sequence[Address], reachable: bool | None) -> None:
        """Find out whether others reach us; if they do not, have relays do it."""
        if reachable is None and relays:
            host = await self.relaying.seen_host(relays, self._address.port)
            reachable = host is not None
            if host is not None and not self.has_named_host:
                self._address, self.has_named_host = replace(self._address, hosts=(host,)), True
            elif host is not None and host not in self._address.hosts:
                self._address = replace(self._address, hosts=(host, *self._address.hosts[: MAX_HOSTS - 1]))
        if reachable is False:
            self.incoming.takes_strangers = False
            await self.streams.stop_listening()
            for listener in self._listeners:
                listener.close()
            if relays:
                await self.relaying.seek_shelter(relays, self._limits.relay_renew_s)

    @property
    def identity(self) -> Identity:
        return self._identity

    @property
    def address(self) -> Address:
        return self.relaying.address or self._address

    @property
    def own_contact(self) -> Contact:
        """This peer where it listens, whoever else may stand before it."""
        return self._address.contact

    @property
    def is_reachable(self) -> bool:
        """Whether strangers reach this peer by themselves, not through a relay."""
        return self.incoming.takes_strangers

    async def moved(self, since: Address) -> Address:
        return await self.relaying.moved(since)

    @property
    def num_sessions(self) -> int:
        return len(self._sessions)

    def serve(self, method: str, handler: Handler, *, max_payload: int | None = None) -> None:
        self.serving.serve(method, handler, max_payload)

    def unserve(self, method: str) -> None:
        self.serving.unserve(method)

    def begin(
        self, peer: Contact, method: str, payload: Sendable, *, timeout_s: float, max_reply: int | None = None
    ) -> asyncio.Future[Payload] | None:
        session = self._sessions.get(peer)
        if session is None:
            return None
        call = self._entered(peer, method, payload, timeout_s, max_reply)
        session.used = time.monotonic()
        try:
            self.calls.start(session, call)
        except BaseException:
            call.future.cancel()
            raise
        return call.future

    async def call(
        self, peer: Contact, method: str, payload: Sendable, *, timeout_s: float, max_reply: int | None = None
    ) -> Payload:
        begun = self.begin(peer, method, payload, timeout_s=timeout_s, max_reply=max_reply)
        if begun is not None:
            return await begun
        call = self._entered(peer, method, payload, timeout_s, max_reply)
        try:
            await self._connect(call, time.monotonic())
        except BaseException:
            call.future.cancel()
            raise
        return await call.future

    def _entered(self, peer: Contact, method: str, payload: Sendable, timeout_s: float, max_reply: int | None) -> Call:
        """Return a call that is on the books until its future is done."""
        if type(payload) is memoryview and (payload.itemsize != 1 or payload.ndim != 1):
            payload = payload.cast("B")
        most = self._limits.max_payload
        if len(payload) > most:
            raise PeerRefused(f"a payload of {len(payload)} bytes is over the limit of {most}")
        name = method.encode()
        if not 1 <= len(name) <= m.MAX_METHOD:
            raise UsageError(f"method {method!r} is not 1 to {m.MAX_METHOD} ASCII characters")
        if self._closed:
            raise PeerUnreachable("this network is closed")
        live = self.calls.live
        if len(live) >= self._limits.max_calls:
            raise NetworkError(f"{len(live)} calls are under way; wait for some before making more")
        future: asyncio.Future[Payload] = self._loop.create_future()
        deadline = time.monotonic() + timeout_s
        call = Call(peer, name, payload, future, deadline, most if max_reply is None else min(max_reply, most))
        live.add(call)
        future.add_done_callback(functools.partial(self._left, call))
        if self._timer is None:
            self._start_timer()
        return call

    def _left(self, call: Call, future: asyncio.Future[Payload]) -> None:
        self.calls.live.discard(call)
        if call.session is not None:
            self._abandon(call, call.session)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for timer in (self._timer, self._sweeper):
            if timer is not None:
                timer.cancel()
        for call in self.calls.live:
            if not call.future.done():
                call.future.set_exception(PeerUnreachable("this network was closed"))
        await self.relaying.close()
        await self.serving.close()
        for port in self._ports:  # before the streams: what is asked now would be worked on for nobody
            port.close()
        await self.streams.close()
        for listener in self._listeners:
            listener.close()

    # -- finding a peer ----------------------------------------------------------------------------------------------

    async def _connect(self, call: Call, now: float) -> None:
        contact = await self.ways.resolved(call.contact, call.deadline - now)
        if call.future.done():  # its time was over meanwhile, and it is off the books
            return
        if contact != call.contact:
            call.contact = contact
            session = self._sessions.get(contact)
            if session is not None:
                self.calls.start(session, call)
                return
        self._dial(contact, time.monotonic()).calls.append(call)

    def _dial(self, contact: Contact, now: float) -> Dial:
        if contact.id == self._identity.peer_id:
            raise PeerUnreachable("a peer does not call itself")
        if contact.relay is None:
            return self.handshakes.dial(contact, *self.ways.to(contact), now)
        path = self.relaying.ends.path(contact)
        return self.handshakes.dial(contact, path, path.address, now)

    def forget(self, contact: Contact) -> None:
        """Shake hands again with the next call to a contact."""
        if (session := self._sessions.get(contact)) is not None:
            self._sessions.drop(session)

    def on_no_way(self, path: RelayPath, reason: str) -> None:
        """Fail the calls that wait for a peer which its relay cannot reach."""
        dial = self.handshakes.dials.get(path.contact(path.peer, path.address))
        for call in self.calls.live:
            is_waiting = (call.session is not None and call.session.port is path) or (dial and call in dial.calls)
            if is_waiting and not call.future.done():
                call.future.set_exception(PeerUnreachable(reason))

    async def stranger(self, host: str) -> PeerNetwork:
        """Return another peer, that nobody knows, at a free port beside ours of the family that a host has."""
        return await PeerNetwork.listen(Identity.generate(), (self.ways.host_near(host),), suite=self._suite)

    def _on_established(self, session: Session, calls: list[Call]) -> None:
        evicted = self._sessions.install(session)
        for other in evicted:
            self._on_evicted(other)
        self.streams.end(evicted)
        if session.is_dialled and not any(not call.future.done() for call in calls):
            session.port.send(session.finish or b"", session.address)
        for call in calls:
            if not call.future.done():
                self.calls.start(self._sessions.get(session.contact) or session, call)

    def _on_evicted(self, session: Session) -> None:
        """Fail what was asked on a session that had to make room, as its handlers run; make anew what still waited."""
        for call in session.calls.values():
            if not call.future.done():
                call.future.set_exception(PeerUnreachable("its session had to make room: too many are in use"))
        self._on_session_lost(session, self.calls.take_back(session))

    def _on_session_lost(self, session: Session, calls: list[Call]) -> None:
        """Begin anew with a peer that does not know the session any more."""
        self._sessions.drop(session)
        now = time.monotonic()
        for call in calls:
            call.moves += 1
            if call.moves > MAX_MOVES:
                call.future.set_exception(PeerUnreachable("the peer forgot the session again and again"))
                continue
            newer = self._sessions.get(session.contact)
            if newer is not None and newer is not session:
                self.calls.start(newer, call)
            else:
                self._dial(session.contact, now).calls.append(call)

    def _to_stream(self, session: Session, call: Call) -> None:
        self.streams.start(session, call)

    def _abandon(self, call: Call, session: Session) -> None:
        """Free what a call that got no answer holds, and let the peer stop working on it."""
        number, way = call.number, call.stream
        is_late = time.monotonic() >= call.deadline
        unheard_since = call.sent_at if is_late else None
        if is_late and call.is_unheard(session):
            # It may have forgotten the session, and its word for that may not get through.
            self._sessions.drop(session)
        self.calls.leave(call)
        if number >= 0 and not self._closed:
            self.streams.cancel(session, number, way, unheard_since=unheard_since)

    # -- time --------------------------------------------------------------------------------------------------------

    def _start_timer(self) -> None:
        self._tick_due = time.monotonic() + _TICK_S
        self._timer = self._loop.call_later(_TICK_S, self._tick)

    def _tick(self) -> None:
        now = time.monotonic()
        late_s = now - self._tick_due
        if late_s > _TICK_S:
            # While this process was busy, or did not run, it read no answers either: nobody else was slow. What was
            # sent again has been waited for enough: where all is late, something may be lost as well.
            for call in self.calls.live:
                if call.sends == 1:
                    call.resend_at += min(late_s, now - call.sent_at)
            for dial in self.handshakes.dials.values():
                if dial.sends == 1:
                    dial.resend_at += min(late_s, now - dial.sent_at)
        # After a long pause answers wait in the sockets: read them before anything counts as unanswered, once.
        self._is_late = not self._is_late and late_s > 5 * _TICK_S
        if not self._is_late:
            self.calls.tick(now)
            self.handshakes.tick(now)
        self._timer = None
        if self.calls.live or self.handshakes.dials:
            self._start_timer()

    def _sweep(self) -> None:
        now = time.monotonic()
        self.handshakes.sweep(now)
        self.streams.sweep(now)
        self.relaying.sweep(now)
        self.streams.end(self._sessions.sweep(now))
        self._sweeper = self._loop.call_later(_SWEEP_S, self._sweep)
