"""Being reached through others: keeps reservations at relays, and knows which of them our address names.

All relays are asked at the start and again every few seconds, which also keeps the way back open in whatever stands
between; each in its own time, so that what one of them says or does is nothing to the others. The address names one of
them for as long as that one answers, then the next: the others stand by.
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
#: however short a reservation a relay gives
_LEAST_RENEW_S = 1.0


class ReservationsHost(Protocol):
    """What reservations need of their network."""

    async def ask(self, contact: Contact, method: str, payload: bytes, timeout_s: float) -> Payload: ...

    async def resolved(self, contact: Contact, timeout_s: float) -> Contact:
        """Return the contact with a numeric host; raises PeerUnreachable."""

    def forget(self, contact: Contact) -> None:
        """Shake hands again with the next call."""


class _Place:
    """What we have at one relay: how often it is renewed, where it is held, or why it is not."""

    __slots__ = ("held_at", "refusal", "relay", "renew_s")

    def __init__(self, relay: Address, renew_s: float) -> None:
        self.relay = relay
        self.renew_s = renew_s
        self.held_at: Contact | None = None
        self.refusal = ""


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
        self._renew_s = renew_s
        self._places = [_Place(relay, renew_s) for relay in relays[:MAX_RELAYS]]
        self._on_moved = on_moved
        self._current: _Place | None = None

    @property
    def address(self) -> Address | None:
        """Where others reach us; None before there is any reservation."""
        if self._current is None:
            return None
        relay = self._current.relay
        return Address(self._own_id, relay.hosts, relay.port, relay.id)

    @property
    def _held(self) -> list[Contact]:
        return [place.held_at for place in self._places if place.held_at is not None]

    def contact_of(self, relay: PeerId) -> Contact | None:
        """Return where we reach a relay that we have a reservation at."""
        return next((contact for contact in self._held if contact.id == relay), None)

    def is_held_at(self, host: str, port: int) -> bool:
        return any((contact.host, contact.port) == (host, port) for contact in self._held)

    async def begin(self) -> None:
        """Reserve; raises PeerUnreachable if no relay took us."""
        await asyncio.gather(*map(self._renew, self._places))
        if self._current is None:
            reasons = "; ".join(f"{each.relay.hosts[0]}:{each.relay.port} {each.refusal}" for each in self._places)
            raise PeerUnreachable(f"none of {len(self._places)} relays takes this peer: {reasons}")

    async def keep(self) -> None:
        """Renew for ever."""
        await asyncio.gather(*map(self._keep, self._places))

    async def _keep(self, place: _Place) -> None:
        while True:
            await asyncio.sleep(place.renew_s)
            await self._renew(place)

    async def _renew(self, place: _Place) -> None:
        held_at = place.held_at
        for contact in (*([held_at] if held_at is not None else []), *place.relay.contacts):
            try:
                numeric = await self._host.resolved(contact, place.renew_s / 3)
                await self._reserve(place, numeric)
            except NetworkError as exc:
                place.refusal = str(exc)
            else:
                place.held_at = numeric
                break
        else:
            place.held_at = None
            if held_at is not None:
                _log.warning("relay %s is lost: %s", place.relay, place.refusal)
        self._settle()

    async def _reserve(self, place: _Place, contact: Contact) -> None:
        try:
            answer = await self._host.ask(contact, rp.RESERVE, b"", place.renew_s / 3)
        except PeerUnreachable:
            # It may be there, and answer to where we are not heard any more: begin anew.
            self._host.forget(contact)
            raise
        reserved = rp.decode(rp.Reserved, answer)
        place.renew_s = min(self._renew_s, max(_LEAST_RENEW_S, reserved.for_s / 3))

    def _settle(self) -> None:
        """Name another relay if the one in our address is lost."""
        if self._current is not None and self._current.held_at is not None:
            return
        following = next((place for place in self._places if place.held_at is not None), None)
        if following is not None and following is not self._current:
            self._current = following
            self._on_moved()
