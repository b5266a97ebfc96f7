"""Hosts that people write by name, as the numbers that peers know each other by.

A name is looked up once, when a swarm is joined: tables hold numbers only, because a name would be passed on to peers
which cannot, and must not, look it up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from strobe.swarm.dht.protocol import is_numeric
from strobe.swarm.net.listening import look_up
from strobe.swarm.net.network import Contact


async def in_numbers(contacts: Iterable[Contact], timeout_s: float) -> tuple[list[Contact], list[str]]:
    """Return the contacts at all addresses that their hosts have, IPv4 and IPv6; and the names that nobody knows."""
    wanted = list(dict.fromkeys(contacts))
    names = list(dict.fromkeys(contact.host for contact in wanted if not is_numeric(contact.host)))
    hosts = dict(zip(names, await asyncio.gather(*(_hosts(name, timeout_s) for name in names)), strict=True))
    found = [contact._replace(host=host) for contact in wanted for host in hosts.get(contact.host, [contact.host])]
    return list(dict.fromkeys(found)), [name for name in names if not hosts[name]]


async def _hosts(name: str, timeout_s: float) -> list[str]:
    return [host for host in await look_up(name, timeout_s) if is_numeric(host)]
