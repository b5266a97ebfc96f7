"""When a first packet is sent again: on a clock of the test's own, with answers as late as it likes."""

from __future__ import annotations

import asyncio
import itertools
import socket

import pytest

from strobe.swarm.net import AES_GCM, Contact, Identity, Limits, Payload, PeerId
from strobe.swarm.net.account import Accounts
from strobe.swarm.net.calls import Call
from strobe.swarm.net.handshake import Ephemeral, Initiator, Responder
from strobe.swarm.net.handshakes import Dial, Handshakes
from strobe.swarm.net.packet import ACCEPT, COOKIE_BYTES, INIT, NO_COOKIE, Init, pack_retry, parse_retry
from strobe.swarm.net.ports import SocketAddress
from strobe.swarm.net.session import Session
from tests.swarm.net.peers import run

ANN, BOB = Identity(bytes(32)), Identity(b"\x01" * 32)


class Nowhere:
    """A port that only keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def send(self, packet: bytes, address: SocketAddress) -> None:
        self.sent.append(packet)

    def contact(self, peer: PeerId, address: SocketAddress) -> Contact:
        return Contact(peer, *address)

    def room(self, address: SocketAddress) -> int:
        return 1200

    async def connect(self, address: SocketAddress) -> socket.socket:
        raise OSError


class Dialler:
    """A peer that dials one stranger after the other, and whom nobody else calls."""

    def __init__(self) -> None:
        self.now = 100.0
        self.sessions: list[Session] = []
        self.calls: list[Call] = []
        self._ports = itertools.count(1)
        accounts = Accounts(Limits())
        self.handshakes = Handshakes(ANN, AES_GCM, Limits(), {}, accounts.of, self._established, self.now)

    def _established(self, session: Session, calls: list[Call]) -> None:
        self.sessions.append(session)
        self.calls += calls

    def waits_s(self, *, answered_after_s: float | None, num_resends: int = 1) -> list[float]:
        """Dial a stranger who answers so late, or never; return how long each packet was waited for."""
        stranger, port, started = Identity.generate(), Nowhere(), self.now
        contact = Contact(stranger.peer_id, "127.0.0.1", next(self._ports))
        future: asyncio.Future[Payload] = asyncio.get_running_loop().create_future()
        dial = self.handshakes.dial(contact, port, ("127.0.0.1", contact.port), self.now)
        dial.calls.append(Call(contact, b"echo", b"", future, self.now + 60, 0))
        times = [self.now]
        while len(times) <= num_resends:
            self.now += 0.01
            if answered_after_s is not None and self.now >= started + answered_after_s:
                init = Init.parse(port.sent[0])
                assert init is not None
                accept = Responder(AES_GCM, stranger, Ephemeral(0), init, 9).accept
                self.handshakes.on_accept(accept, self.now)
                return [after - before for before, after in itertools.pairwise(times)]
            self.handshakes.tick(self.now)
            times += [self.now] * (len(port.sent) - len(times))
        future.cancel()
        self.handshakes.tick(self.now)
        return [after - before for before, after in itertools.pairwise(times)]


def _dial(ann: Dialler, port: Nowhere) -> Dial:
    contact = Contact(BOB.peer_id, "127.0.0.1", 1)
    future: asyncio.Future[Payload] = asyncio.get_running_loop().create_future()
    dial = ann.handshakes.dial(contact, port, ("127.0.0.1", 1), ann.now)
    dial.calls.append(Call(contact, b"echo", b"", future, ann.now + 600, 0))
    return dial


def _last_init(port: Nowhere) -> Init:
    init = Init.parse(port.sent[-1])
    assert init is not None
    return init


def test_a_first_packet_is_sent_again_soon_and_then_less_and_less_often() -> None:
    async def work() -> None:
        ann = Dialler()
        waits = ann.waits_s(answered_after_s=None, num_resends=7)
        assert waits == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2, 4.0, 4.0], abs=0.03)
        assert ann.handshakes.resends == 7

    run(work())


def test_who_has_the_lower_id_answers_a_peer_that_does_not_answer_it() -> None:
    """A sheltered peer that was restarted knows no relay yet, and its relay calls it where it was before."""

    async def work() -> None:
        ann, port, address = Dialler(), Nowhere(), ("127.0.0.1", 1)
        assert ANN.peer_id < BOB.peer_id
        dial = _dial(ann, port)
        init = Initiator.begin(AES_GCM, BOB, Ephemeral(0), ANN.peer_id, 9).init.pack()
        kinds = []
        for _ in range(3):
            ann.handshakes.on_init(init, address, port, ann.now)
            kinds.append([packet[0] for packet in port.sent])
            port.sent.clear()
            ann.now = dial.resend_at
            ann.handshakes.tick(ann.now)
        assert kinds == [[INIT], [INIT], [INIT, ACCEPT]]

    run(work())


def test_a_dial_that_is_not_answered_begins_anew_and_keeps_its_calls() -> None:
    """Its key is not to be kept, and the cookie that it got is of no use any more."""

    async def work() -> None:
        ann, port = Dialler(), Nowhere()
        dial = _dial(ann, port)
        first = _last_init(port)
        ann.handshakes.on_retry(pack_retry(first.sender, b"c" * COOKIE_BYTES), ann.now)
        assert _last_init(port) == first._replace(cookie=b"c" * COOKIE_BYTES)
        while ann.now < 115:
            ann.now = dial.resend_at
            ann.handshakes.tick(ann.now)
        last = _last_init(port)
        assert last.cookie == NO_COOKIE
        assert (last.sender != first.sender, last.ephemeral != first.ephemeral) == (True, True)
        ann.handshakes.on_accept(Responder(AES_GCM, BOB, Ephemeral(0), first, 9).accept, ann.now)
        assert ann.sessions == []
        ann.handshakes.on_accept(Responder(AES_GCM, BOB, Ephemeral(0), last, 9).accept, ann.now)
        assert len(ann.sessions) == 1
        assert ann.calls == dial.calls
        assert not ann.handshakes.dials

    run(work())


def test_forged_answers_do_not_end_a_dial() -> None:
    async def work() -> None:
        ann, port = Dialler(), Nowhere()
        dial = _dial(ann, port)
        forger = Identity.generate()
        for _ in range(8):
            ann.handshakes.on_accept(Responder(AES_GCM, forger, Ephemeral(0), _last_init(port), 9).accept, ann.now)
        ann.now = dial.resend_at
        ann.handshakes.tick(ann.now)
        ann.handshakes.on_accept(Responder(AES_GCM, BOB, Ephemeral(0), _last_init(port), 9).accept, ann.now)
        assert ann.calls == dial.calls

    run(work())


def test_where_answers_come_at_once_a_lost_packet_is_sent_again_sooner() -> None:
    async def work() -> None:
        ann = Dialler()
        ann.waits_s(answered_after_s=0.02)
        assert ann.waits_s(answered_after_s=None) == pytest.approx([0.1], abs=0.03)
        # and so is the first message on the session that came of it
        assert ann.sessions[0].round_trip.timeout_s == pytest.approx(0.1)

    run(work())


def test_late_answers_are_learnt_from_though_their_packets_were_sent_twice() -> None:
    """A busy machine is late with everything: it must not send everything twice besides."""

    async def work() -> None:
        ann = Dialler()
        assert len(ann.waits_s(answered_after_s=0.5, num_resends=9)) == 1
        for _ in range(20):
            assert ann.waits_s(answered_after_s=0.5, num_resends=9) == []
        assert ann.handshakes.resends == 1

    run(work())


def test_a_session_whose_first_packet_was_lost_knows_how_quick_others_are() -> None:
    async def work() -> None:
        ann = Dialler()
        ann.waits_s(answered_after_s=0.02)
        assert len(ann.waits_s(answered_after_s=0.12, num_resends=9)) == 1
        assert ann.sessions[1].round_trip.timeout_s == pytest.approx(0.12, abs=0.01)

    run(work())


@pytest.mark.parametrize(("flood", "honest"), [("192.0.2.", "192.0.3.1"), ("2001:db8::", "2001:db8:0:1::1")])
def test_a_flood_from_one_network_leaves_room_for_others(flood: str, honest: str) -> None:
    """Its addresses are real, so that it has cookies for all it sends."""
    limits, port, key = Limits(handshakes_per_s=40, max_half_open=16), Nowhere(), Ephemeral(0)
    door = Handshakes(ANN, AES_GCM, limits, {}, Accounts(limits).of, lambda session, calls: None, 0.0)

    def is_answered(host: str, index: int, now: float) -> bool:
        init = Initiator.begin(AES_GCM, BOB, key, ANN.peer_id, index).init
        port.sent = [b"-"]
        door.on_init(init.pack(), (host, 1), port, now)
        if (retry := parse_retry(port.sent[-1])) is not None:
            door.on_init(init._replace(cookie=retry[1]).pack(), (host, 1), port, now)
        return port.sent[-1][0] == ACCEPT

    answers = []
    for turn in range(200):
        is_answered(f"{flood}{turn}", turn, turn / 200)
        if turn % 20 == 19:
            answers.append(is_answered(honest, 1000 + turn, turn / 200))
    assert answers == [True] * 10
