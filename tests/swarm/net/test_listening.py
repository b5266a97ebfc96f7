"""Where a peer listens that was not told, and what it then calls itself."""

from __future__ import annotations

import asyncio

import pytest

from strobe.swarm.net import Address, Identity, PeerNetwork, listening
from strobe.swarm.net.listening import default_hosts, hosts_of, named_hosts


@pytest.fixture
def has_ipv6(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "_has_ipv6", lambda: True)


@pytest.mark.parametrize(
    ("peers", "hosts"),
    [
        ((), ("127.0.0.1",)),
        (("127.0.0.1", "127.3.0.1"), ("127.0.0.1",)),
        (("::1",), ("::1",)),
        (("::1", "127.0.0.1"), ("::1", "127.0.0.1")),
        (("203.0.113.7",), ("0.0.0.0",)),
        (("127.0.0.1", "203.0.113.7"), ("0.0.0.0",)),
        (("2001:db8::7",), ("::",)),
        (("203.0.113.7", "2001:db8::7"), ("0.0.0.0", "::")),
        (("::1", "203.0.113.7"), ("::", "0.0.0.0")),
    ],
)
@pytest.mark.usefixtures("has_ipv6")
def test_a_peer_listens_where_those_that_it_wants_to_reach_can_answer(
    peers: tuple[str, ...], hosts: tuple[str, ...]
) -> None:
    assert default_hosts(peers) == hosts


def test_a_machine_without_ipv6_listens_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "_has_ipv6", lambda: False)
    assert default_hosts(["2001:db8::7", "203.0.113.7"]) == ("0.0.0.0",)
    assert default_hosts(["::1", "127.0.0.1"]) == ("127.0.0.1",)
    assert default_hosts(["2001:db8::7"]) == ("::",), "so that it is told what is missing"


def test_names_count_as_what_they_stand_for() -> None:
    peer = Identity.generate().peer_id
    addresses = [Address(peer, ("localhost", "203.0.113.7"), 4000), Address(peer, ("no-such-host.invalid",), 4000)]
    hosts = asyncio.run(hosts_of(addresses))
    assert "127.0.0.1" in hosts
    assert hosts[-1] == "203.0.113.7"
    assert set(hosts) <= {"127.0.0.1", "::1", "203.0.113.7"}


def test_a_wildcard_is_named_by_the_route_to_anybody_or_to_a_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    routes = {("0.0.0.0", "10.0.0.1"): "10.0.0.9"}
    monkeypatch.setattr(listening, "leaves_from", lambda host, target: routes.get((host, target)))
    assert named_hosts(["0.0.0.0", "::"], ["127.0.0.1", "10.0.0.1", "2001:db8::7"]) == ("10.0.0.9",)
    assert named_hosts(["0.0.0.0"], ["127.0.0.1"]) == (), "nobody else finds this machine there"
    assert named_hosts(["127.0.0.1"], ["10.0.0.1"]) == ("127.0.0.1",), "as it was told"
    routes["0.0.0.0", "192.0.2.1"] = "198.51.100.1"
    assert named_hosts(["0.0.0.0"], ["10.0.0.1"]) == ("198.51.100.1",)


def test_peers_and_relays_decide_where_a_network_listens() -> None:
    async def main() -> None:
        far = Address(Identity.generate().peer_id, ("203.0.113.7",), 4000)
        for peers, host in (([], "127.0.0.1"), ([far], "0.0.0.0")):
            network = await PeerNetwork.listen(Identity.generate(), peers=peers)
            assert [port.host for port in network._ports] == [host]
            await network.close()

    asyncio.run(main())
