"""What peers say is checked before it is believed."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.averaging import protocol as p
from strobe.swarm.averaging.group import Group, Member
from strobe.swarm.dht.value import pack
from strobe.swarm.net.address import Address
from strobe.swarm.net.network import PeerId

pytestmark = pytest.mark.frameworks


def member(number: int, **more: object) -> Member:
    return Member(address=Address(PeerId(bytes([number]) * 20), ("127.0.0.1",), 4000), **more)  # type: ignore[arg-type]


GROUP = Group(bytes(16), (member(1, weight=2.0, gathered=pack({"loss": 1.5})), member(2, role="client")))
JOIN = p.Join("prefix", bytes(20), 17.0, p.wire_member(member(1)))


def test_messages_arrive_as_they_were_sent() -> None:
    assert p.decode_join(p.encode(JOIN)) == JOIN
    assert p.parse_member(JOIN.member) == member(1)
    for news in (p.Wait(), p.Moved(str(member(1).address), 3.0), p.begin(GROUP)):
        assert p.decode_news(p.encode(news)) == news
    assert p.parse_group(p.begin(GROUP)) == GROUP
    assert p.decode_in_round(p.encode(p.InRound(bytes(16), "prefix"))).group == bytes(16)


def test_the_longest_prefix_fits_into_what_is_said_about_a_round() -> None:
    question = p.encode(p.InRound(bytes(16), "\U0001f600" * p.MAX_PREFIX))
    assert len(question) <= p.MAX_IN_ROUND_BYTES


@pytest.mark.parametrize("decoder", [p.decode_join, p.decode_news, p.decode_in_round])
@given(garbage=st.binary(max_size=200))
def test_garbage_is_malformed_and_nothing_else(decoder: Callable[[bytes], object], garbage: bytes) -> None:
    with contextlib.suppress(p.Malformed):
        decoder(garbage)


@pytest.mark.parametrize("cut", range(len(p.encode(JOIN))))
def test_a_message_that_was_cut_is_malformed(cut: int) -> None:
    with pytest.raises(p.Malformed):
        p.decode_join(p.encode(JOIN)[:cut])


@pytest.mark.parametrize(
    "wire",
    [
        p.WireMember("nowhere", 1.0, 1.0, "full", b"\xc0"),
        p.WireMember(str(member(1).address), -1.0, 1.0, "full", b"\xc0"),
        p.WireMember(str(member(1).address), math.nan, 1.0, "full", b"\xc0"),
        p.WireMember(str(member(1).address), math.inf, 1.0, "full", b"\xc0"),
        p.WireMember(str(member(1).address), 1e60, 1.0, "full", b"\xc0"),  # beside it, weights are 0 in float32
        p.WireMember(str(member(1).address), 1.0, 0.0, "full", b"\xc0"),
        p.WireMember(str(member(1).address), 1.0, math.nan, "full", b"\xc0"),
        p.WireMember(str(member(1).address), 1.0, 1.7e308, "full", b"\xc0"),  # of two, the sum is infinite
        p.WireMember(str(member(1).address), 1.0, 1.0, "full", b"\xc1"),
    ],
)
def test_a_member_that_makes_no_sense_is_malformed(wire: p.WireMember) -> None:
    with pytest.raises(p.Malformed):
        p.parse_member(wire)


def test_a_group_has_each_member_once_and_one_that_reduces() -> None:
    wire = p.wire_member(member(1))
    with pytest.raises(p.Malformed, match="twice"):
        p.parse_group(p.Begin(bytes(16), [wire, wire]))
    with pytest.raises(p.Malformed, match="nobody reduces"):
        p.parse_group(p.Begin(bytes(16), [p.wire_member(member(1, role="client"))]))
