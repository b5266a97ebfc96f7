"""The way to a server: through which proxy, trusting whom, and how long a round trip takes."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

import urllib3
from urllib3.util import make_headers, parse_url

from strobe.remote.target import Target

#: where `struct tcp_info` has the smoothed round trip time, in microseconds
_RTT_OFFSET = 68


def open_pool(target: Target, size: int) -> tuple[urllib3.PoolManager | None, str]:
    """Return connections for the target; None and the reason where its settings make none possible."""
    options: dict[str, object] = {"maxsize": size, "block": False}
    bundle = target.ca_bundle or target.way.get("REQUESTS_CA_BUNDLE") or target.way.get("SSL_CERT_FILE")
    directory = target.way.get("SSL_CERT_DIR")
    if bundle:
        if not os.path.exists(bundle):
            return None, f"the certificates in {bundle} cannot be read: there is no such file; correct ca_bundle"
        options["ca_cert_dir" if os.path.isdir(bundle) else "ca_certs"] = bundle
    elif directory:
        options["ca_cert_dir"] = directory
    proxy = choose_proxy(target.base_url, target.proxy, target.way)
    if proxy is None:
        return urllib3.PoolManager(**options), ""  # type: ignore[arg-type]  # names and types as documented
    if not proxy.startswith(("http://", "https://")):
        return None, f"proxy {_without_login(proxy)!r} is neither http:// nor https://; such proxies are not supported"
    login = parse_url(proxy).auth
    headers = make_headers(proxy_basic_auth=unquote(login)) if login else None
    return urllib3.ProxyManager(proxy, proxy_headers=headers, **options), ""  # type: ignore[arg-type]  # as above


def choose_proxy(base_url: str, setting: str | None, way: Mapping[str, str]) -> str | None:
    """Return the proxy for that address: the setting's, else the environment's; None for none."""
    if setting is not None:
        return None if setting.lower() == "off" else setting if "://" in setting else f"http://{setting}"
    place = urlsplit(base_url)
    found = way.get(f"{place.scheme.upper()}_PROXY") or way.get("ALL_PROXY")
    if not found or bypasses(place.hostname or "", place.port, way.get("NO_PROXY", "")):
        return None
    return found if "://" in found else f"http://{found}"


def bypasses(host: str, port: int | None, no_proxy: str) -> bool:
    """Tell whether NO_PROXY names the host: by its name, the end of it, its address or the network it is in."""
    for word in (part.strip().lower() for part in no_proxy.split(",")):
        name, _, its_port = word.rpartition(":") if word.count(":") == 1 else (word, "", "")
        if not name or (its_port and its_port != str(port)):
            continue
        if name == "*" or host == name or host.endswith("." + name.lstrip("*").lstrip(".")) or _is_within(host, name):
            return True
    return False


def _is_within(host: str, network: str) -> bool:
    if "/" not in network:
        return False
    import ipaddress

    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def round_trip(response: urllib3.BaseHTTPResponse) -> float | None:
    """Return the round trip time of the response's connection in seconds, as the kernel sees it; None if it is mute."""
    if sys.platform != "linux":
        return None
    connection = getattr(response, "connection", None)
    open_socket = getattr(connection, "sock", None)
    if open_socket is None:
        return None
    try:
        found = open_socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    except (OSError, AttributeError):
        return None
    if len(found) < _RTT_OFFSET + 4:
        return None
    return float(struct.unpack_from("=I", found, _RTT_OFFSET)[0]) / 1e6


def _without_login(address: str) -> str:
    scheme, mark, rest = address.partition("://")
    return scheme + mark + rest.rpartition("@")[2]
