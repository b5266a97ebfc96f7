"""Where a peer listens that was not told, and which host it names to others: decided by those that it wants to reach.

A socket that is bound to this machine's loopback sends nothing off the machine. So a peer that begins a swarm keeps to
itself until it is told otherwise, and one that joins listens wherever those that it joins can answer it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Sequence
from typing import Final

from strobe.swarm.net.address import Address
from strobe.swarm.net.ports import is_loopback, numeric

_LOOPBACK: Final = {4: "127.0.0.1", 6: "::1"}
_WILDCARD: Final = {4: "0.0.0.0", 6: "::"}
#: documentation addresses: a route to them is the one to anybody
_ANYBODY: Final = {4: "192.0.2.1", 6: "2001:db8::1"}


def default_hosts(peers: Sequence[str]) -> tuple[str, ...]:
    """Return where to listen to reach peers at these hosts, in numbers; this machine only if there are none."""
    versions = list(dict.fromkeys(map(_version, peers))) or [4]
    usable = [version for version in versions if version == 4 or _has_ipv6()]
    hosts = _LOOPBACK if all(map(is_loopback, peers)) else _WILDCARD
    return tuple(hosts[version] for version in usable or versions)


def this_machine(hosts: Iterable[str]) -> tuple[str, ...]:
    """Return where a machine reaches itself, by the versions of IP that some hosts have."""
    return tuple(dict.fromkeys(_LOOPBACK[_version(host)] for host in hosts))


def named_hosts(bound: Iterable[str], peers: Iterable[str]) -> tuple[str, ...]:
    """Return the hosts that others can use, of those that are bound: none if no route leads out from a wildcard.

    For a wildcard it is the host that packets to anybody leave from, or, where only some networks are reached, those to
    one of the peers.
    """
    found: dict[str, None] = {}
    for host in bound:
        if host not in _WILDCARD.values():
            found[host] = None
            continue
        version = _version(host)
        far = [_ANYBODY[version], *(peer for peer in peers if _version(peer) == version and not is_loopback(peer))]
        own = next((own for target in far if (own := leaves_from(host, target)) is not None), None)
        if own is not None:
            found[own] = None
    return tuple(found)


def leaves_from(host: str, target: str) -> str | None:
    """Return the host that packets of a socket bound to `host` leave from, or None if none can get to the target."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.bind((host, 0))
            sock.connect((target, 9))  # chooses a route; nothing is sent
            own: str = sock.getsockname()[0]
    except OSError:
        return None
    return own


async def hosts_of(addresses: Iterable[Address], timeout_s: float = 3.0) -> list[str]:
    """Return the hosts of addresses in numbers: names at all that they have, or nothing where they are not known."""
    named = list(dict.fromkeys(host for address in addresses for host in address.hosts))
    found = await asyncio.gather(*(_looked_up(host, timeout_s) for host in named))
    return list(dict.fromkeys(host for hosts in found for host in hosts))


async def _looked_up(host: str, timeout_s: float) -> list[str]:
    return [number] if (number := numeric(host)) is not None else await look_up(host, timeout_s)


async def look_up(name: str, timeout_s: float) -> list[str]:
    """Return the hosts that a name stands for, in numbers, IPv4 and IPv6; none if nobody knows it."""
    lookup = asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_DGRAM)
    try:
        found = await asyncio.wait_for(lookup, timeout_s)
    except (OSError, UnicodeError, asyncio.TimeoutError):  # UnicodeError: a label that no name can have
        return []
    return [str(address[0]) for *_, address in found]


def _version(host: str) -> int:
    return 6 if ":" in host else 4


def _has_ipv6() -> bool:
    return leaves_from("::1", "::1") is not None
