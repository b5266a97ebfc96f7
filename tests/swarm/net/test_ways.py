"""The way to a contact: by which port, at which address, or why there is none."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator

import pytest

from strobe.swarm.net import Contact, NoRoute, PeerId, PeerUnreachable
from strobe.swarm.net.ports import DatagramPort
from strobe.swarm.net.ways import Ways
from tests.swarm.net.peers import peers, run

BOB = PeerId(b"b" * 20)


@pytest.fixture
def port() -> Iterator[DatagramPort]:
    """A port of IPv4 only."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    port = DatagramPort(sock, lambda packet, source, port: None)
    yield port
    port.close()


def test_a_contact_is_reached_by_the_port_of_its_family(port: DatagramPort) -> None:
    ways = Ways([port])
    assert ways.to(Contact(BOB, "127.0.0.2", 4000)) == (port, ("127.0.0.2", 4000))
    assert ways.host_near("127.0.0.2") == "127.0.0.1"
    for attempt in (lambda: ways.to(Contact(BOB, "2001:db8::1", 4000)), lambda: ways.host_near("2001:db8::1")):
        with pytest.raises(PeerUnreachable, match="2001:db8::1 is of a family that this peer does not listen at"):
            attempt()


def test_what_cannot_be_sent_from_this_machine_to_itself_is_told(port: DatagramPort) -> None:
    far = Contact(BOB, "192.0.2.1", 4000)
    with pytest.raises(NoRoute, match=r"listens at 127\.0\.0\.1 only, from where 192\.0\.2\.1 cannot be reached"):
        Ways([port]).to(far)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("0.0.0.0", 0))
        open_port = DatagramPort(sock, lambda packet, source, port: None)
        assert Ways([port, open_port]).to(far) == (open_port, ("192.0.2.1", 4000))


@pytest.mark.parametrize("number", [0, -1, 65536])
def test_a_port_that_cannot_be_is_told(port: DatagramPort, number: int) -> None:
    with pytest.raises(PeerUnreachable, match="is not between 1 and 65535"):
        Ways([port]).to(Contact(BOB, "192.0.2.1", number))


def test_names_are_looked_up_and_numbers_are_spelled_as_usual(port: DatagramPort) -> None:
    async def work() -> None:
        ways = Ways([port])
        named = Contact(BOB, "localhost", 4000)
        assert await ways.resolved(named, 10) == named._replace(host="127.0.0.1")
        long = Contact(BOB, "2001:db8:0:0:0:0:0:1", 4000)
        assert await ways.resolved(long, 10) == long._replace(host="2001:db8::1")
        usual = Contact(BOB, "192.0.2.1", 4000)
        assert await ways.resolved(usual, 10) is usual

    run(work())


def test_a_name_that_nobody_knows_is_told(port: DatagramPort) -> None:
    async def work() -> None:
        with pytest.raises(PeerUnreachable, match=r"host 'nobody\.invalid' is not known"):
            await Ways([port]).resolved(Contact(BOB, "nobody.invalid", 4000), 10)

    run(work())


def test_the_time_that_a_name_takes_is_not_time_in_which_nobody_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with peers(1) as (ann,):

            async def slowly(contact: Contact, timeout_s: float) -> Contact:
                await asyncio.sleep(0.3)
                return contact

            monkeypatch.setattr(ann.ways, "resolved", slowly)
            asked_at = time.monotonic()
            call = asyncio.create_task(ann.call(Contact(BOB, "127.0.0.1", 9), "echo", b"", timeout_s=5))
            while not ann.handshakes.dials:
                await asyncio.sleep(0.01)
            (dial,) = ann.handshakes.dials.values()
            assert dial.sent_at - asked_at > 0.25
            call.cancel()

    run(work())
