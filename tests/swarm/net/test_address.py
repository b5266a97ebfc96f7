from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strobe.errors import UsageError
from strobe.swarm.net.address import Address
from strobe.swarm.net.identity import peer_text
from strobe.swarm.net.network import Contact, PeerId

ID = PeerId(bytes(range(20)))
hosts = st.one_of(
    st.ip_addresses().map(str), st.sampled_from(["localhost", "peer-1.example.org", "xn--bcher-kva.example"])
)


ids = st.binary(min_size=20, max_size=20).map(PeerId)


@given(
    st.lists(hosts, min_size=1, max_size=8), st.integers(1, 65535), st.lists(ids, min_size=1, max_size=2, unique=True)
)
def test_an_address_survives_its_text(names: list[str], port: int, peers: list[PeerId]) -> None:
    address = Address(peers[0], tuple(names), port, *peers[1:])
    assert Address.parse(str(address)) == address


@given(st.one_of(st.text(max_size=90), st.text(max_size=60).map(lambda rest: f"strobe://{peer_text(ID)}@{rest}")))
def test_a_text_is_an_address_or_refused(text: str) -> None:
    try:
        address = Address.parse(text)
    except UsageError:
        return
    assert Address.parse(str(address)) == address


def test_contacts_keep_the_order_of_the_hosts() -> None:
    address = Address.parse(f"strobe://{peer_text(ID)}@127.0.0.1,[::1]:4711")
    assert address.contacts == (Contact(ID, "127.0.0.1", 4711), Contact(ID, "::1", 4711))
    assert address.contact == address.contacts[0]


def test_an_address_through_a_relay_names_it_in_every_contact() -> None:
    relay = PeerId(bytes(20))
    address = Address.parse(f"strobe://{peer_text(ID)}@127.0.0.1,[::1]:4711/{peer_text(relay)}")
    assert address.contacts == (Contact(ID, "127.0.0.1", 4711, relay), Contact(ID, "::1", 4711, relay))


@pytest.mark.parametrize("relay", ["", "x", peer_text(ID), peer_text(bytes(20)) + "/"])
def test_a_wrong_relay_is_refused(relay: str) -> None:
    with pytest.raises(UsageError):
        Address.parse(f"strobe://{peer_text(ID)}@127.0.0.1:4711/{relay}")


@pytest.mark.parametrize(
    "rest",
    ["", "a", "a:", ":1", "a:0", "a:65536", "a:-1", "a:１", "::1:9", "[::1:9", "a b:9", "a,:9", "[a]x:9", "x" * 2000],
)
def test_what_is_wrong_is_refused(rest: str) -> None:
    with pytest.raises(UsageError):
        Address.parse(f"strobe://{peer_text(ID)}@{rest}")
