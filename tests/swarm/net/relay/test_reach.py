"""What relays say about where strangers reach a peer, and which of that is believed."""

from __future__ import annotations

import pytest

from strobe.swarm.net import Contact, Payload, PeerId, PeerUnreachable
from strobe.swarm.net.relay import protocol as rp
from strobe.swarm.net.relay.reach import seen_host
from tests.swarm.net.peers import run

HERE, OWN, LIE, IPV6 = "192.0.2.1", "198.51.100.1", "203.0.113.9", "2001:db8::1"


class Relays:
    """Relays that say each its own; None is one that does not answer."""

    def __init__(self, verdicts: list[tuple[bool, str] | None]) -> None:
        self._verdicts = verdicts
        self.contacts = [Contact(PeerId(bytes([i]) * 20), "127.0.0.1", i + 1) for i in range(len(verdicts))]

    async def ask(self, contact: Contact, method: str, payload: bytes, timeout_s: float) -> Payload:
        verdict = self._verdicts[contact.port - 1]
        if verdict is None:
            raise PeerUnreachable("silence")
        return rp.encode(rp.DialledBack(*verdict))


@pytest.mark.parametrize(
    ("verdicts", "believed"),
    [
        ([(True, HERE)], HERE),
        ([(False, HERE)], None),
        ([(True, "no host")], None),
        ([(True, HERE), None], HERE),
        ([(True, HERE), (True, HERE)], HERE),
        # it could not call back, and sees the peer there all the same
        ([(True, HERE), (False, HERE)], HERE),
        # one of them lies, and nobody knows which
        ([(True, LIE), (True, HERE)], None),
        ([(True, LIE), (False, HERE)], None),
        ([(True, LIE), (True, HERE), (True, HERE)], HERE),
        # what the peer itself has needs no witness
        ([(True, LIE), (True, OWN)], OWN),
        # a relay sees one of the two
        ([(True, HERE), (True, IPV6)], HERE),
    ],
)
def test_a_host_is_believed_that_no_other_relay_contradicts(
    verdicts: list[tuple[bool, str] | None], believed: str | None
) -> None:
    async def work() -> None:
        relays = Relays(verdicts)
        assert await seen_host(relays, relays.contacts, 4000, own_hosts=(OWN,)) == believed

    run(work())
