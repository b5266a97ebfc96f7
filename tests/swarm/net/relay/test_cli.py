"""`strobe swarm dht --relay` and `strobe swarm serve --relay` as real processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from strobe.swarm.net import Address
from tests.swarm.net.peers import peers, run
from tests.swarm.net.relay.relays import sheltered

pytestmark = pytest.mark.slow


@contextmanager
def strobe_swarm(*words: str) -> Iterator[Address]:
    """A process that goes on, by the address that it prints first."""
    command = [sys.executable, "-m", "strobe", "swarm", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield Address.parse(process.stdout.readline().strip())
        finally:
            process.kill()


def test_a_dht_peer_on_the_command_line_relays() -> None:
    with strobe_swarm("dht", "--relay") as middle:

        async def work() -> None:
            async with peers(1) as (ann,), sheltered(middle) as bob:
                assert len(await ann.call(bob.address.contact, "echo", bytes(1 << 20), timeout_s=20)) == 1 << 20

        run(work())


@pytest.mark.frameworks
def test_a_server_that_is_reachable_does_not_use_the_relay_that_it_was_given() -> None:
    with (
        strobe_swarm("dht", "--relay") as middle,
        strobe_swarm("serve", "nop.0", "--class", "nop", "--peer", str(middle), "--relay", str(middle)) as served,
    ):
        assert served.relay is None
        assert served.port != middle.port
