"""The way to a contact that is reached directly: its host in numbers, the port that packets leave by, the address.

Knows names and families of addresses; nothing of who is there, nor of relays.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

from strobe.swarm.net.listening import leaves_from
from strobe.swarm.net.network import Contact, NoRoute, PeerUnreachable
from strobe.swarm.net.ports import DatagramPort, Port, SocketAddress, is_loopback, numeric, socket_address


class Ways:
    """The ways out of one peer's ports."""

    def __init__(self, ports: Sequence[DatagramPort]) -> None:
        self._ports = ports

    def to(self, contact: Contact) -> tuple[Port, SocketAddress]:
        """Return the port and the address by which a contact in numbers is reached; raises PeerUnreachable."""
        if not 0 < contact.port < 65536:
            raise PeerUnreachable(f"port {contact.port} is not between 1 and 65535")
        family, address = socket_address(contact.host, contact.port)
        return self._port_of(family, contact.host), address

    def host_near(self, host: str) -> str:
        """Return which of our own hosts a host in numbers is reached from; raises PeerUnreachable."""
        family, _ = socket_address(host, 1)
        return self._port_of(family, host).host

    async def resolved(self, contact: Contact, timeout_s: float) -> Contact:
        """Return the contact with its host in numbers; raises PeerUnreachable."""
        host = numeric(contact.host) or await self._resolve(contact, timeout_s)
        return contact if host == contact.host else contact._replace(host=host)

    def _port_of(self, family: socket.AddressFamily, host: str) -> DatagramPort:
        ports = [port for port in self._ports if port.family == family]
        for port in ports:
            if not is_loopback(port.host) or is_loopback(host) or leaves_from(port.host, host) is not None:
                return port
        if ports:
            raise NoRoute(
                f"this peer listens at {ports[0].host} only, from where {host} cannot be reached; let it listen at "
                f"another host, such as {'::' if ':' in host else '0.0.0.0'}"
            )
        raise NoRoute(f"{host} is of a family that this peer does not listen at; add such a host")

    async def _resolve(self, contact: Contact, timeout_s: float) -> str:
        lookup = asyncio.get_running_loop().getaddrinfo(contact.host, contact.port, type=socket.SOCK_DGRAM)
        try:
            found = await asyncio.wait_for(lookup, timeout_s)
        except (OSError, asyncio.TimeoutError) as exc:
            raise PeerUnreachable(f"host {contact.host!r} is not known: {exc}") from exc
        families = {port.family for port in self._ports}
        for family, _, _, _, address in found:
            if family in families:
                return str(address[0])
        raise PeerUnreachable(f"host {contact.host!r} has no address of a family that this peer listens at")
