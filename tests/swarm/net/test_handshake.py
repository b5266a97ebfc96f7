from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.net.cipher import AES_GCM, PLAIN, Suite
from strobe.swarm.net.handshake import Ephemeral, HandshakeFailed, Initiator, Keys, Responder
from strobe.swarm.net.identity import Identity
from strobe.swarm.net.packet import INIT_BYTES, Accept, Init, parse_finish

ANN, BOB, EVE = (Identity(bytes([i] * 32)) for i in range(3))


def shake(dialler: Identity = ANN, dialled: Identity = BOB, *, suite: Suite = AES_GCM) -> tuple[Keys, Keys]:
    initiator = Initiator.begin(suite, dialler, Ephemeral(0), dialled.peer_id, 7)
    responder = Responder(suite, dialled, Ephemeral(0), initiator.init, 9)
    accept = Accept.parse(responder.accept, suite.tag_bytes)
    assert accept is not None
    finish, theirs = initiator.finish(accept)
    parsed = parse_finish(finish, suite.tag_bytes)
    assert parsed is not None
    index, sealed, rest = parsed
    assert (index, rest) == (9, b"")
    return theirs, responder.finish(sealed)


@pytest.mark.parametrize("suite", [AES_GCM, PLAIN])
def test_both_sides_end_with_the_same_keys_and_know_each_other(suite: Suite) -> None:
    ann, bob = shake(suite=suite)
    assert (ann.send, ann.receive, ann.stream_secret) == (bob.receive, bob.send, bob.stream_secret)
    assert (ann.peer_id, bob.peer_id) == (BOB.peer_id, ANN.peer_id)
    assert (ann.public, bob.public) == (BOB.public, ANN.public)
    assert len({ann.send, ann.receive, ann.stream_secret}) == 3


def test_every_session_has_keys_of_its_own_even_of_the_same_ephemeral_keys() -> None:
    one, two = Ephemeral(0), Ephemeral(0)

    def keys() -> Keys:
        initiator = Initiator.begin(AES_GCM, ANN, one, BOB.peer_id, 7)
        accept = Accept.parse(Responder(AES_GCM, BOB, two, initiator.init, 9).accept, 16)
        assert accept is not None
        return initiator.finish(accept)[1]

    seen = [keys() for _ in range(4)]
    assert len({key for each in seen for key in (each.send, each.receive, each.stream_secret)}) == 12


def test_who_answers_for_somebody_else_is_found_out() -> None:
    """The one in the middle has keys of its own, and may put anything into the packet."""
    initiator = Initiator.begin(AES_GCM, ANN, Ephemeral(0), BOB.peer_id, 7)
    accept = Accept.parse(Responder(AES_GCM, EVE, Ephemeral(0), initiator.init, 9).accept, 16)
    assert accept is not None
    with pytest.raises(HandshakeFailed, match="was dialled and"):
        initiator.finish(accept)


def test_who_shows_anothers_keys_without_having_them_is_found_out() -> None:
    """Bob's public keys are public: showing them must not be enough."""
    claims_bob = Identity(bytes([2] * 32))
    claims_bob.public = BOB.public
    initiator = Initiator.begin(AES_GCM, ANN, Ephemeral(0), BOB.peer_id, 7)
    accept = Accept.parse(Responder(AES_GCM, claims_bob, Ephemeral(0), initiator.init, 9).accept, 16)
    assert accept is not None
    with pytest.raises(HandshakeFailed, match="does not open"):
        initiator.finish(accept)

    claims_ann = Identity(bytes([2] * 32))
    claims_ann.public, claims_ann.peer_id = ANN.public, ANN.peer_id
    with pytest.raises(HandshakeFailed, match="does not open"):
        shake(claims_ann)


def test_who_dials_has_to_be_who_it_said() -> None:
    liar = Identity(bytes([2] * 32))
    liar.peer_id = ANN.peer_id
    with pytest.raises(HandshakeFailed, match="said to be"):
        shake(liar)


@given(st.data())
def test_a_flipped_bit_anywhere_ends_the_handshake(data: st.DataObject) -> None:
    """In the first packet as in the others: the transcript covers them all."""
    which = data.draw(st.sampled_from(["init", "accept", "finish"]))

    def flipped(packet: bytes, skip: int) -> bytes:
        bit = data.draw(st.integers(skip * 8, len(packet) * 8 - 1))
        changed = bytearray(packet)
        changed[bit // 8] ^= 1 << bit % 8
        return bytes(changed)

    initiator = Initiator.begin(AES_GCM, ANN, Ephemeral(0), BOB.peer_id, 7)
    init = initiator.init
    if which == "init":
        parsed_init = Init.parse(flipped(init.pack()[:-16], 1) + init.cookie)
        assert parsed_init is not None
        init = parsed_init
    # A top bit of a curve point means nothing, so the keys may agree; the transcript's hash does not.
    try:
        responder = Responder(AES_GCM, BOB, Ephemeral(0), init, 9)
    except HandshakeFailed:
        return
    packet = responder.accept
    if which == "accept":
        packet = flipped(packet, 9)  # the indices before only say whose it is
    accept = Accept.parse(packet, 16)
    assert accept is not None
    if which in ("init", "accept"):
        with pytest.raises(HandshakeFailed):
            initiator.finish(accept)
        return
    finish, _ = initiator.finish(accept)
    parsed = parse_finish(flipped(finish, 5), 16)
    assert parsed is not None
    with pytest.raises(HandshakeFailed):
        responder.finish(parsed[1])


def test_a_key_of_low_order_is_refused() -> None:
    initiator = Initiator.begin(AES_GCM, ANN, Ephemeral(0), BOB.peer_id, 7)
    init = initiator.init._replace(ephemeral=bytes(32))
    with pytest.raises(HandshakeFailed, match="no use"):
        Responder(AES_GCM, BOB, Ephemeral(0), init, 9)


def test_the_answer_to_a_stranger_is_less_than_three_times_what_it_sent() -> None:
    initiator = Initiator.begin(AES_GCM, ANN, Ephemeral(0), BOB.peer_id, 7)
    assert len(Responder(AES_GCM, BOB, Ephemeral(0), initiator.init, 9).accept) < 2 * INIT_BYTES


def test_a_cookie_is_not_part_of_what_is_agreed() -> None:
    """It is for whoever made it; the initiator gets it in the middle."""
    initiator = Initiator.begin(AES_GCM, ANN, Ephemeral(0), BOB.peer_id, 7)
    again = dataclasses.replace(initiator, init=initiator.init._replace(cookie=b"c" * 16))
    accept = Accept.parse(Responder(AES_GCM, BOB, Ephemeral(0), again.init, 9).accept, 16)
    assert accept is not None
    initiator.finish(accept)
