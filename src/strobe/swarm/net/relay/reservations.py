"""Being reached through others: keeps reservations at relays, and knows which of them our address names.

All relays are asked at the start and again every few seconds, which also keeps the way back open in whatever stands
between. The address names one of them for as long as that one answers, then the next: the others stand by.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from strobe.swarm.net.address import Address
from strobe.swarm.net.network import Contact, NetworkError, Payload, PeerId, PeerUnreachable
from strobe.swarm.net.relay import protocol as rp

_log = logging.getLogger("strobe.swarm.net")
MAX_RELAYS = 8


class ReservationsHost(Protocol):
    """What reservations need of their network."""

    async def ask(self, contact: Contact, method: str, payload: bytes, timeout_s: float) -> Payload: ...

    async def resolved(self, contact: Contact, timeout_s: float) -> Contact:
        """Return the contact with a numeric host; raises PeerUnreachable."""

    def forget(self, contact: Contact) -> None:
        """Shake hands again with the next call."""


class Reservations:
    """The relays of one network, in order of preference."""

    def __init__(
        self,
        host: ReservationsHost,
        own_id: PeerId,
        relays: Sequence[Address],
        renew_s: float,
        on_moved: Callable[[], None],
    ) -> None:
        self._host = host
        self._own_id = own_id
        self._relays = relays[:MAX_RELAYS]
        self._renew_s = renew_s
        self._on_moved = on_moved
        self._held: dict[PeerId, Contact] = {}
        self._refusals: dict[PeerId, str] = {}
        self._current: Address | None = None

    @property
    def address(self) -> Address | None:
        """Where others reach us; None before there is any reservation."""
        relay = self._current
        return None if relay is None else Address(self._own_id, relay.hosts, relay.port, relay.id)

    def contact_of(self, relay: PeerId) -> Contact | None:
        """Return where we reach a relay that we have a reservation at."""
        return self._held.get(relay)

    async def begin(self) -> None:
        """Reserve; raises PeerUnreachable if no relay took us."""
        await self._renew_all()
        if self._current is None:
            reasons = "; ".join(f"{relay.hosts[0]}:{relay.port} {self._refusals[relay.id]}" for relay in self._relays)
            raise PeerUnreachable(f"none of {len(self._relays)} relays takes this peer: {reasons}")

    async def keep(self) -> None:
        """Renew for ever."""
        while True:
            await asyncio.sleep(self._renew_s)
            await self._renew_all()

    async def _renew_all(self) -> None:
        await asyncio.gather(*map(self._renew, self._relays))

    async def _renew(self, relay: Address) -> None:
        held = self._held.get(relay.id)
        for contact in (*([held] if held is not None else []), *relay.contacts):
            try:
                numeric = await self._host.resolved(contact, self._renew_s / 3)
                await self._reserve(numeric)
            except NetworkError as exc:
                self._refusals[relay.id] = str(exc)
            else:
                self._held[relay.id] = numeric
                break
        else:
            if self._held.pop(relay.id, None) is not None:
                _log.warning("relay %s is lost: %s", relay, self._refusals[relay.id])
        self._settle()

    async def _reserve(self, contact: Contact) -> None:
        try:
            answer = await self._host.ask(contact, rp.RESERVE, b"", self._renew_s / 3)
        except PeerUnreachable:
            # It may be there, and answer to where we are not heard any more: begin anew.
            self._host.forget(contact)
            raise
        reserved = rp.decode(rp.Reserved, answer)
        self._renew_s = min(self._renew_s, reserved.for_s / 3)

    def _settle(self) -> None:
        """Name another relay if the one in our address is lost."""
        if self._current is not None and self._current.id in self._held:
            return
        following = next((relay for relay in self._relays if relay.id in self._held), None)
        if following is not None and following != self._current:
            self._current = following
            self._on_moved()
