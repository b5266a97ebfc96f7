"""A real NAT: network namespaces of this test's own, with masquerading between a hidden peer and everybody else.

hidden 192.168.77.2 ── nat 192.168.77.1 | 10.77.0.2 ──┐
                          relay 10.77.0.1 ────────────┼── bridge
                          caller 10.77.0.3 ───────────┘
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.swarm.net.town import Town, skip_without

pytestmark = pytest.mark.slow

RULES = """
table ip nat {
  chain out { type nat hook postrouting priority 100; oifname "wan" masquerade random; }
}
table ip doors {
  chain through { type filter hook forward priority 0; policy drop;
    iifname "lan" accept; ct state established,related accept; }
  chain into { type filter hook input priority 0; policy drop; iifname "lo" accept; iifname "lan" accept; }
}
"""

RELAY = """
import asyncio
from strobe.swarm.net import Identity, PeerNetwork

async def main():
    network = await PeerNetwork.listen(Identity.generate(), ["10.77.0.1"], relay=True)
    print(network.address, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""

HIDDEN = """
import asyncio, sys
from strobe.swarm.net import Address, Identity, PeerNetwork

async def main():
    relays = [Address.parse(sys.argv[1])]
    network = await PeerNetwork.listen(Identity.generate(), ["0.0.0.0"], relays=relays)  # finds out by itself
    network.serve("echo", lambda caller, payload: payload)
    print(network.address, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""

CALLER = """
import asyncio, sys
from strobe.swarm.net import Address, Identity, PeerNetwork, PeerUnreachable

async def main():
    network = await PeerNetwork.listen(Identity.generate(), ["10.77.0.3"])
    contact = Address.parse(sys.argv[1]).contact
    for size in (10, 20_000, 3 << 20):
        assert bytes(await network.call(contact, "echo", bytes(size), timeout_s=30)) == bytes(size)
    try:  # where its packets come from, nobody gets in
        await network.call(contact._replace(host="10.77.0.2", relay=None), "echo", b"", timeout_s=1)
    except PeerUnreachable:
        print("through the relay only", flush=True)
    await network.close()

asyncio.run(main())
"""


class NatTown(Town):
    """The namespaces above."""

    def __init__(self, stack: ExitStack) -> None:
        super().__init__(stack, ("bridge", "relay", "caller", "nat", "hidden"))
        self.run("bridge", "ip", "link", "add", "name", "hub", "type", "bridge")
        self.run("bridge", "ip", "link", "set", "hub", "up")
        for name, address in (("relay", "10.77.0.1"), ("nat", "10.77.0.2"), ("caller", "10.77.0.3")):
            self.wire(name, "wan", f"{address}/24", "bridge", name)
            self.run("bridge", "ip", "link", "set", name, "master", "hub")
        self.wire("hidden", "eth", "192.168.77.2/24", "nat", "lan")
        self.run("nat", "ip", "address", "add", "192.168.77.1/24", "dev", "lan")
        self.run("hidden", "ip", "route", "add", "default", "via", "192.168.77.1")
        self.run("nat", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        self.run("nat", "nft", "-f", "-", text=RULES)


@contextmanager
def town() -> Iterator[Town]:
    skip_without("ip", "nft")
    with ExitStack() as stack:
        yield NatTown(stack)


def test_a_peer_behind_a_nat_finds_out_and_is_reached_through_the_relay() -> None:
    with town() as here:
        relay = here.start("relay", sys.executable, "-c", RELAY)
        hidden = here.start("hidden", sys.executable, "-c", HIDDEN, relay)
        assert hidden.endswith("/" + relay.removeprefix("strobe://").partition("@")[0])
        assert here.run("caller", sys.executable, "-c", CALLER, hidden) == "through the relay only\n"


TRAINER = """
import sys, torch
from strobe.swarm.client import CallOptions, get_experts
from strobe.swarm.dht import DHT

with DHT([sys.argv[1]], hosts=["10.77.0.3"], client_mode=True) as dht:
    [expert] = get_experts(dht, ["ffn.0.0"], CallOptions(timeout_s=60.0))
    assert expert.stub.place.address.relay is not None
    x = torch.randn(700, 32, requires_grad=True)
    before = expert(x)
    before.square().sum().backward()
    assert x.grad.abs().sum() > 0
    assert not torch.equal(expert(x.detach()), before.detach())
    print("learned", flush=True)
"""


@pytest.mark.frameworks
def test_an_expert_behind_a_nat_learns() -> None:
    strobe = (sys.executable, "-m", "strobe", "swarm")
    with town() as here:
        relay = here.start("relay", *strobe, "dht", "--host", "10.77.0.1", "--relay")
        options = ("--hidden-dim", "32", "--host", "0.0.0.0", "--peer", relay, "--relay", relay)
        hidden = here.start("hidden", *strobe, "serve", "ffn.0.0", *options)
        assert hidden.endswith("/" + relay.removeprefix("strobe://").partition("@")[0])
        assert here.run("caller", sys.executable, "-c", TRAINER, relay) == "learned\n"
        assert "1 experts: ffn.0.0" in here.run("caller", *strobe, "status", hidden)
