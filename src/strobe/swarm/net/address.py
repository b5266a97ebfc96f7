"""Where a peer is, as one line that people paste: `strobe://<peer id>@host:port`, several hosts with commas between.

All hosts of a peer share one port number. Of a peer that only another one can reach, host and port are that other
one's, whose id follows: `strobe://<peer id>@host:port/<relay's peer id>`. A pure value: nothing is looked up here.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from strobe.errors import UsageError
from strobe.swarm.net.identity import parse_peer_id, peer_text
from strobe.swarm.net.network import Contact, PeerId

_SCHEME = "strobe://"
_FORM = "strobe://<peer id>@host:port"
_NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(\.(?!-)[A-Za-z0-9_-]{1,63})*\.?")
MAX_HOSTS = 8
_MAX_TEXT = 1024


@dataclass(frozen=True, slots=True)
class Address:
    """A peer's id, the hosts it is reachable at in order of preference, and its port; or those of its relay."""

    id: PeerId
    hosts: tuple[str, ...]
    port: int
    relay: PeerId | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.hosts) <= MAX_HOSTS:
            raise UsageError(f"an address has 1 to {MAX_HOSTS} hosts, this one {len(self.hosts)}")
        if not 0 < self.port < 65536:
            raise UsageError(f"port {self.port} is not between 1 and 65535")
        for host in self.hosts:
            if not _is_ip(host) and not _NAME.fullmatch(host):
                raise UsageError(f"{host!r} is neither an IP address nor a host name")
        if self.relay == self.id:
            raise UsageError(f"{peer_text(self.id)} is named as its own relay; leave out what follows the port")

    def __str__(self) -> str:
        hosts = ",".join(f"[{host}]" if ":" in host else host for host in self.hosts)
        relay = "" if self.relay is None else f"/{peer_text(self.relay)}"
        return f"{_SCHEME}{peer_text(self.id)}@{hosts}:{self.port}{relay}"

    @classmethod
    def parse(cls, text: str) -> Address:
        """Return the address that a text names; raises UsageError."""
        if len(text) > _MAX_TEXT or not text.startswith(_SCHEME):
            raise UsageError(f"{text[:80]!r} is no peer address; it has the form {_FORM}")
        peer, at, place = text[len(_SCHEME) :].partition("@")
        place, slash, relay = place.partition("/")
        hosts, colon, port = place.rpartition(":")
        # isdigit() is true of other scripts' digits too
        if not at or not colon or not (port.isascii() and port.isdigit()) or len(port) > 5:
            raise UsageError(f"{text!r} lacks a port or an id; a peer address has the form {_FORM}")
        names = tuple(_unbracketed(host) for host in hosts.split(","))
        return cls(parse_peer_id(peer), names, int(port), parse_peer_id(relay) if slash else None)

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """One contact per host, to be tried in this order."""
        return tuple(Contact(self.id, host, self.port, self.relay) for host in self.hosts)

    @property
    def contact(self) -> Contact:
        """The contact at the preferred host."""
        return Contact(self.id, self.hosts[0], self.port, self.relay)


def _unbracketed(host: str) -> str:
    if host.startswith("[") != host.endswith("]") or (":" in host and not host.startswith("[")):
        raise UsageError(f"{host!r}: an IPv6 host stands in brackets, as in [::1]")
    return host[1:-1] if host.startswith("[") else host


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
