"""Experts whose server nobody can dial: found in the DHT, trained through a relay, and through the next one."""

from __future__ import annotations

import time

import pytest
import torch

from strobe.swarm.client import CallOptions, RemoteExpert, get_experts
from strobe.swarm.dht import DHT, Options
from strobe.swarm.experts import ServerOptions
from strobe.swarm.net import Address, PeerId
from tests.swarm.experts.peers import HIDDEN, server
from tests.swarm.net.relay.relays import QUICK

pytestmark = pytest.mark.frameworks

OPTIONS = Options(timeout_s=1.0)
PATIENT = CallOptions(timeout_s=20.0)


def trains(expert: RemoteExpert) -> None:
    """Check one step: an output, a gradient, and that the expert has learned from it."""
    x = torch.randn(700, HIDDEN, requires_grad=True)  # too much for datagrams
    before = expert(x)
    before.square().sum().backward()
    assert x.grad is not None
    assert x.grad.abs().sum() > 0
    assert not torch.equal(expert(x.detach()), before.detach())


def declared(dht: DHT, uid: str, relay: PeerId) -> Address:
    """Wait until the swarm knows an expert to be reached through a relay."""
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        record = dht.get(uid, latest=True)
        if record is not None and (address := Address.parse(record.value)).relay == relay:
            return address
        time.sleep(0.05)
    raise AssertionError(f"{uid} was not declared in time")


def test_an_expert_behind_a_relay_learns_and_moves_to_the_next_relay() -> None:
    with (
        DHT(relay=True, options=OPTIONS) as first,
        DHT([first.address], relay=True, options=OPTIONS) as second,
        DHT([second.address, first.address], options=OPTIONS) as client,
        DHT(
            [second.address, first.address],
            relays=[first.address, second.address],
            reachable=False,
            limits=QUICK,
            options=OPTIONS,
        ) as hidden,
        server(hidden, "ffn.0.0", options=ServerOptions(update_period_s=60.0)),
    ):
        # By its order of preference the first, unless that one was slow to answer.
        relay, other = (first, second) if hidden.address.relay == first.peer_id else (second, first)
        assert hidden.address.relay == relay.peer_id
        assert hidden.client_mode
        [expert] = get_experts(client, ["ffn.0.0"], PATIENT)
        assert expert is not None
        assert expert.stub.place.address == hidden.address
        trains(expert)
        relay.shutdown()
        # Long before the next regular declaration: the move itself makes one.
        address = declared(client, "ffn.0.0", other.peer_id)
        assert hidden.address == address
        trains(expert)
        assert expert.stub.place.address == address


def test_a_peer_in_a_process_of_its_own_tells_where_it_is_reached() -> None:
    with DHT(relay=True, options=OPTIONS) as first, DHT(relay=True, options=OPTIONS) as second:
        relays = [first.address, second.address]
        with DHT([second.address], relays=relays, reachable=False, limits=QUICK, process=True) as hidden:
            relay, other = (first, second) if hidden.address.relay == first.peer_id else (second, first)
            relay.shutdown()
            deadline = time.monotonic() + 40
            while hidden.address.relay != other.peer_id and time.monotonic() < deadline:
                time.sleep(0.1)
            assert hidden.address.relay == other.peer_id


def test_a_peer_that_is_not_reachable_asks_those_who_introduce_it_to_be_its_relays() -> None:
    with DHT(relay=True) as first, DHT([first.address], reachable=False) as hidden:
        assert hidden.address.relay == first.peer_id
        assert hidden.store("key", 7, time.time() + 60)
        found = first.get("key")
        assert found is not None
        assert found.value == 7
