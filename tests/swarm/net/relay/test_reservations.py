"""Places at two relays, of which one does what it should not."""

from __future__ import annotations

import asyncio
from collections import Counter

from strobe.swarm.net import Address, Contact, Identity, Payload, PeerId
from strobe.swarm.net.relay import protocol as rp
from strobe.swarm.net.relay.reservations import Reservations
from tests.swarm.net.peers import run

GOOD, BAD = (Address(PeerId(bytes([number]) * 20), ("127.0.0.1",), number) for number in (1, 2))


class Relays:
    """Both relays at once; counts how often each is asked."""

    def __init__(self, bad_for_s: float) -> None:
        self._bad_for_s = bad_for_s
        self.asked: Counter[PeerId] = Counter()
        self.is_bad_silent = False

    async def ask(self, contact: Contact, method: str, payload: bytes, timeout_s: float) -> Payload:
        self.asked[contact.id] += 1
        if contact.id == GOOD.id:
            return rp.encode(rp.Reserved(60.0))
        if self.is_bad_silent:
            await asyncio.Event().wait()
        return rp.encode(rp.Reserved(self._bad_for_s))

    async def resolved(self, contact: Contact, timeout_s: float) -> Contact:
        return contact

    def forget(self, contact: Contact) -> None:
        """There are no sessions here."""


async def begin(relays: Relays, renew_s: float) -> Reservations:
    reservations = Reservations(relays, Identity(bytes(32)).peer_id, [BAD, GOOD], renew_s, lambda: None)
    await reservations.begin()
    return reservations


async def keep_for(duration_s: float, reservations: Reservations) -> None:
    keeping = asyncio.create_task(reservations.keep())
    await asyncio.wait([keeping], timeout=duration_s)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)


def test_a_relay_that_gives_places_for_no_time_does_not_make_us_ask_all_the_time() -> None:
    async def work() -> None:
        relays = Relays(bad_for_s=1e-6)
        await keep_for(0.2, await begin(relays, 15.0))
        assert relays.asked == {BAD.id: 1, GOOD.id: 1}

    run(work())


def test_how_often_one_relay_is_asked_is_nothing_to_the_others() -> None:
    async def work() -> None:
        relays = Relays(bad_for_s=3.0)
        await keep_for(1.3, await begin(relays, 15.0))
        assert relays.asked == {BAD.id: 2, GOOD.id: 1}

    run(work())


def test_a_relay_that_is_silent_keeps_us_from_no_other() -> None:
    async def work() -> None:
        relays = Relays(bad_for_s=60.0)
        reservations = await begin(relays, 0.02)
        relays.is_bad_silent = True
        await keep_for(0.3, reservations)
        assert relays.asked[BAD.id] == 2
        assert relays.asked[GOOD.id] > 3

    run(work())
