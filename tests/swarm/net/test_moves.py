"""Peers that are heard from another address: followed when they are there, and only then."""

from __future__ import annotations

import asyncio

import pytest

from strobe.swarm.net import Caller, Contact, Payload, PeerNetwork
from strobe.swarm.net import message as m
from strobe.swarm.net.session import Session
from tests.swarm.net.peers import BadPath, bad_path, peers, run
from tests.swarm.net.test_door import Stranger


def serve_where(network: PeerNetwork) -> list[Contact]:
    seen: list[Contact] = []

    def where(caller: Caller, payload: Payload) -> Payload:
        seen.append(caller.contact)
        return bytes(20_000)

    network.serve("where", where)
    return seen


async def rebind(path: BadPath) -> None:
    """As a NAT that has forgotten all mappings: what goes on comes from other ports."""
    for back in path._backs.values():
        back.close()
    path._backs.clear()
    await asyncio.sleep(0)


@pytest.mark.parametrize("loss", [0.0, 0.3])
def test_a_peer_behind_a_nat_that_changed_its_port_is_answered_there(loss: float) -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob) as (contact, path):
            seen = serve_where(bob)
            await ann.call(contact, "where", b"", timeout_s=10)
            path._loss = loss
            for moves in range(1, 4):
                await rebind(path)
                # Half of what is asked gets no answer, a reply is three parts: one run of a thousand needs over 20 s.
                calls = [ann.call(contact, "where", b"", timeout_s=40) for _ in range(5)]
                assert [len(answer) for answer in await asyncio.gather(*calls)] == [20_000] * 5
                assert len(seen) == 1 + 5 * moves
                assert len(set(seen[-5:])) == 1
            assert len(set(seen)) == 4
            assert ann.handshakes.completed == 1
            path._loss = 0.0
            assert await bob.call(seen[-1], "echo", b"back", timeout_s=10) == b"back"

    run(work())


def test_what_waited_for_the_proof_is_handled_without_being_sent_again() -> None:
    async def work() -> None:
        async with peers() as (ann, bob), bad_path(bob) as (contact, path):
            seen = serve_where(bob)
            await ann.call(contact, "where", b"", timeout_s=10)
            session = ann._sessions.get(contact)
            assert session is not None
            session.round_trip.timeout_s = 30.0  # long enough that nothing is sent twice
            await rebind(path)
            await asyncio.gather(*(ann.call(contact, "where", b"", timeout_s=20) for _ in range(5)))
            assert ann.calls.resends == 0
            assert len(set(seen)) == 2

    run(work())


def _sessions(ann: PeerNetwork, bob: PeerNetwork) -> tuple[Session, Session]:
    ours = ann._sessions.get(bob.address.contact)
    (theirs,) = (each for each in bob._sessions.indices.values() if isinstance(each, Session))
    assert ours is not None
    return ours, theirs


def test_a_forged_source_gets_hardly_more_than_it_is_said_to_have_sent() -> None:
    """Eve is a peer like any other, and asks in the name of an address where she does not listen."""

    async def work() -> None:
        async with peers() as (eve, bob):
            seen = serve_where(bob)
            await eve.call(bob.address.contact, "where", b"", timeout_s=10)
            ours, theirs = _sessions(eve, bob)
            home = theirs.address
            with Stranger(bob) as victim:
                for number in range(100, 200):
                    victim.send(ours.seal(m.request(number, 0, b"where", b"")))
                answers = await victim.answers()
                assert sum(map(len, answers)) < 3 * victim.sent
                assert max(map(len, answers)) < 50
                for _ in range(20):  # guesses do not help, wherever they come from
                    victim.send(ours.seal(m.proof(bytes(m.TOKEN_BYTES))))
                    ours.send(m.proof(bytes(m.TOKEN_BYTES)))
                await victim.answers()
            assert seen == [eve.address.contact]
            assert theirs.address == home
            # and she is served as before where she is
            await eve.call(bob.address.contact, "echo", b"", timeout_s=10)
            assert theirs.elsewhere is not None
            bob._sessions.sweep(theirs.elsewhere.expires_at + 1)
            assert theirs.elsewhere is None

    run(work())


def test_a_proof_that_comes_too_late_moves_nothing() -> None:
    async def work() -> None:
        async with peers() as (eve, bob):
            seen = serve_where(bob)
            await eve.call(bob.address.contact, "where", b"", timeout_s=10)
            ours, theirs = _sessions(eve, bob)
            with Stranger(bob) as other:
                other.send(ours.seal(m.request(100, 0, b"where", b"")))
                await other.answers()
                assert theirs.elsewhere is not None
                theirs.elsewhere.expires_at = 0.0
                ours.send(m.proof(theirs.elsewhere.token))
                await other.answers()
            assert (theirs.contact, len(seen)) == (eve.address.contact, 1)

    run(work())


def test_what_waits_for_a_proof_is_bounded() -> None:
    async def work() -> None:
        async with peers() as (eve, bob):
            await eve.call(bob.address.contact, "echo", b"", timeout_s=10)
            ours, theirs = _sessions(eve, bob)
            with Stranger(bob) as other:
                for number in range(100, 200):
                    other.send(ours.seal(m.request(number, 0, b"echo", bytes(4000))))
                await other.answers()
            assert theirs.elsewhere is not None
            assert 10 < len(theirs.elsewhere.messages) <= 32

    run(work())
