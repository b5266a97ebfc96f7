"""At which of its hosts a peer is heard: all are tried together before the first call, and the first answer counts.

So a call goes to one host and has all its time there. Sent to the next one while it was only slow, what it asks for
would be done twice.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from typing import Final
from weakref import WeakKeyDictionary

from strobe.swarm.net.address import Address
from strobe.swarm.net.network import Contact, Network, NetworkError, PeerRefused

#: A method that nobody serves: to refuse it is to be there.
_KNOCK: Final = "knock"
_MAX_KNOWN: Final = 4096
_known: WeakKeyDictionary[Network, OrderedDict[Address, Contact]] = WeakKeyDictionary()


def known_contact(network: Network, address: Address) -> Contact | None:
    """Return where to call a peer, if there is nothing to find out for that."""
    if len(address.hosts) == 1:
        return address.contact
    known = _known.get(network)
    return None if known is None else known.get(address)


async def heard_at(network: Network, address: Address, *, timeout_s: float) -> Contact:
    """Return where to call a peer; NetworkError if it has several hosts and answers at none of them."""
    contact = known_contact(network, address)
    if contact is None:
        contact = await _first_heard(network, address.contacts, timeout_s)
        known = _known.setdefault(network, OrderedDict())
        known[address] = contact
        if len(known) > _MAX_KNOWN:
            known.popitem(last=False)
    return contact


def forget(network: Network, address: Address) -> None:
    """Find out anew where a peer is heard: it was not, where it was before."""
    _known.get(network, OrderedDict()).pop(address, None)


async def _first_heard(network: Network, contacts: tuple[Contact, ...], timeout_s: float) -> Contact:
    knocks = [asyncio.ensure_future(_knock(network, contact, timeout_s)) for contact in contacts]
    failures: list[NetworkError] = []
    try:
        for knock in asyncio.as_completed(knocks):
            try:
                return await knock
            except NetworkError as exc:
                failures.append(exc)
        raise failures[0]
    finally:
        for task in knocks:
            task.cancel()
        await asyncio.gather(*knocks, return_exceptions=True)


async def _knock(network: Network, contact: Contact, timeout_s: float) -> Contact:
    with contextlib.suppress(PeerRefused):
        await network.call(contact, _KNOCK, b"", timeout_s=timeout_s, max_reply=0)
    return contact
