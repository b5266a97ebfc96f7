"""Where a webhook may go: a URL is taken apart, its host looked up, and every address judged before it is used.

A member of a project can name any URL, but must not reach through the server what only the server can reach: its own
ports, its network, a cloud's metadata. The connection is made to an address that was judged, not to the name again,
which might mean another address by then. Redirects are not followed.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import quote, urlsplit

import msgspec

from strobe.errors import UsageError
from strobe.server.alerts.settings import Network

MAX_URL = 2000
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
#: all that was ever given out as public; the rest has ways to IPv4 and to sites that Python does not know as such
_UNICAST = ipaddress.ip_network("2000::/3")


class Forbidden(UsageError):
    """The address is not one that this server sends to."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A URL in parts."""

    host: str
    port: int
    is_tls: bool
    #: path and query, as they are sent
    path: str

    @property
    def host_header(self) -> str:
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (443 if self.is_tls else 80) else f"{name}:{self.port}"


def parse_url(url: str) -> Target:
    """Take a webhook's URL apart; raise UsageError for one that cannot be."""
    if len(url) > MAX_URL or not url.isprintable() or " " in url:
        raise UsageError(
            f"a webhook's URL has at most {MAX_URL} characters, no blanks and no controls, got {url[:80]!r}"
        )
    try:
        parts = urlsplit(url)
        port = parts.port
        host = (
            (parts.hostname or "").encode("idna").decode() if not _is_address(parts.hostname) else parts.hostname or ""
        )
    except (ValueError, UnicodeError) as error:
        raise UsageError(f"{url!r} is no URL: {error}") from error
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"a webhook's URL begins with https:// (or http://) and a host, got {url!r}")
    if parts.username is not None or parts.password is not None:
        raise UsageError("a webhook's URL cannot hold a user or a password; requests are signed instead")
    is_tls = parts.scheme == "https"
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = f"?{quote(parts.query, safe='/%:@!$&()*+,;=?~-._')}" if parts.query else ""
    return Target(host=host, port=port or (443 if is_tls else 80), is_tls=is_tls, path=path + query)


def resolve(target: Target, networks: Sequence[Network]) -> list[str]:
    """Return the addresses of the target's host; raise Forbidden if one of them may not be reached, OSError if none."""
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for text in addresses:
        if not is_allowed(ipaddress.ip_address(text.partition("%")[0]), networks):
            raise Forbidden(
                f"{target.host} is {text}, which is not a public address; who runs the server can allow its network"
                " with STROBE_SERVER_ALERT_NETWORKS"
            )
    return addresses


def is_allowed(address: Address, networks: Sequence[Network]) -> bool:
    """Tell whether the address is public, or in one of the networks."""
    inner = _inner(address)
    if any(inner in network for network in networks):
        return True
    if isinstance(inner, ipaddress.IPv6Address) and inner not in _UNICAST:
        return False
    return inner.is_global and not inner.is_multicast


def _inner(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address stands for: what is behind it counts."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in ipaddress.ip_network("64:ff9b::/96"):
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        return address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1] or address
    return address


def _is_address(host: str | None) -> bool:
    try:
        ipaddress.ip_address((host or "").partition("%")[0])
    except ValueError:
        return False
    return True
