"""Peers on two machines with nothing but defaults: a swarm is joined, asked and written to over a wire.

here 10.78.0.1, fd78::1 ── there 10.78.0.2, fd78::2; no default route, as in a network of its own
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.swarm.net.town import Town, skip_without

pytestmark = pytest.mark.slow

STROBE = (sys.executable, "-m", "strobe", "swarm")

JOINER = """
import sys
from strobe.swarm.dht import DHT, get_dht_time

for is_client in (True, False):
    with DHT([sys.argv[1]], client_mode=is_client) as dht:
        assert dht.store("k", is_client, get_dht_time() + (60 if is_client else 90))
        print(",".join(dht.address.hosts))
"""


@pytest.fixture
def town() -> Iterator[Town]:
    skip_without("ip")
    with ExitStack() as stack:
        town = Town(stack, ("here", "there"))
        town.wire("here", "wire", "10.78.0.1/24", "there", "wire")
        town.run("there", "ip", "address", "add", "10.78.0.2/24", "dev", "wire")
        for name, host in (("here", "fd78::1/64"), ("there", "fd78::2/64")):
            town.run(name, "ip", "address", "add", host, "dev", "wire", "nodad")
        yield town


@pytest.mark.parametrize(("host", "joiner"), [("10.78.0.1", "10.78.0.2"), ("fd78::1", "fd78::2")])
def test_a_swarm_on_another_machine_is_joined_by_default(town: Town, host: str, joiner: str) -> None:
    first = town.start("here", *STROBE, "dht", "--host", host)
    assert town.run("there", sys.executable, "-c", JOINER, first) == f"{joiner}\n" * 2
    assert "stored" in town.run("there", *STROBE, "store", "key", "7", "--peer", first)
    assert "7" in town.run("there", *STROBE, "get", "key", "--peer", first)
    assert "sees us at" in town.run("there", *STROBE, "probe", first)
    second = town.start("there", *STROBE, "dht", "--peer", first)
    assert f"{joiner}]:" in second or f"{joiner}:" in second
    assert "7" in town.run("here", *STROBE, "get", "key", "--peer", second)


def test_one_who_keeps_to_its_machine_is_told_that_this_is_why(town: Town) -> None:
    first = town.start("here", *STROBE, "dht", "--host", "10.78.0.1")
    failed = town.attempt("there", *STROBE, "dht", "--host", "127.0.0.1", "--peer", first)
    assert failed.returncode == 1
    assert "this peer listens at 127.0.0.1 only, from where 10.78.0.1 cannot be reached" in failed.stderr


def test_a_first_peer_that_cannot_know_its_host_asks_for_it(town: Town) -> None:
    failed = town.attempt("here", *STROBE, "dht", "--host", "0.0.0.0")
    assert failed.returncode == 2
    assert "--announce HOST" in failed.stderr
    first = town.start("here", *STROBE, "dht", "--host", "0.0.0.0", "--announce", "10.78.0.1")
    assert "sees us at" in town.run("there", *STROBE, "probe", first)
