"""Sockets: one port number for datagrams and streams, on every host that a peer listens at.

Datagrams are read from the bare socket when the loop can watch it (a quarter of the CPU of asyncio's own endpoint, as
measured) and through an endpoint where it cannot (the usual one of Windows). What the system refuses to send is counted
and dropped, as the network itself may do at any time; whoever needs an answer sends again.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import os
import socket
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from strobe.errors import CommError, UsageError
from strobe.swarm.net.network import Contact, PeerId
from strobe.swarm.net.packet import SAFE_BYTES
from strobe.swarm.net.undelivered import leave_unreported

#: (host, port) or IPv6's (host, port, flow, scope)
SocketAddress: TypeAlias = tuple[Any, ...]
Received: TypeAlias = "Callable[[bytes, SocketAddress, DatagramPort], None]"
OpenPort: TypeAlias = "Callable[[socket.socket, Received], DatagramPort]"

#: largest datagram that every system sends over loopback (macOS stops at 9,216)
LOOPBACK_BYTES = 8192
_RECEIVE_BYTES = 65536
_BUFFER_BYTES = 4 << 20
#: datagrams read per turn, so that a flood does not keep the loop from everything else
_PER_TURN = 64
_ATTEMPTS = 32
_CONNECT_S = 10.0


class Port(Protocol):
    """A way to peers: a socket, or another peer that passes packets on."""

    def send(self, packet: bytes, address: SocketAddress) -> None:
        """Send a datagram. It may get lost."""

    def contact(self, peer: PeerId, address: SocketAddress) -> Contact:
        """Return how a peer is called that is heard from this address."""

    def room(self, address: SocketAddress) -> int:
        """Return how many bytes a datagram may have."""

    async def connect(self, address: SocketAddress) -> socket.socket:
        """Return a connection, not blocking; raises OSError and asyncio.TimeoutError."""


class DatagramPort:
    """One bound UDP socket."""

    __slots__ = ("_endpoint", "_loop", "_received", "_socket", "family", "host", "send_errors")

    def __init__(self, sock: socket.socket, received: Received) -> None:
        self._socket = sock
        self._received = received
        self._loop: asyncio.AbstractEventLoop | None = None
        self._endpoint: asyncio.DatagramTransport | None = None
        self.family = sock.family
        self.host: str = sock.getsockname()[0]
        self.send_errors = 0

    async def start(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.add_reader(self._socket, self._readable)
            self._loop = loop
        except NotImplementedError:
            self._endpoint, _ = await loop.create_datagram_endpoint(lambda: _Endpoint(self), sock=self._socket)

    def send(self, packet: bytes, address: SocketAddress) -> None:
        if self._endpoint is not None:
            self._endpoint.sendto(packet, address)
            return
        try:
            self._socket.sendto(packet, address)
        except OSError:
            self.send_errors += 1

    def _readable(self) -> None:
        receive, received = self._socket.recvfrom, self._received
        for _ in range(_PER_TURN):
            try:
                packet, source = receive(_RECEIVE_BYTES)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:  # an ICMP error about something sent earlier: nothing to read here
                self.send_errors += 1
                return
            received(packet, source, self)
            if self._socket.fileno() < 0:  # closed by what was received
                return

    def deliver(self, packet: bytes, source: SocketAddress) -> None:
        self._received(packet, source, self)

    def contact(self, peer: PeerId, address: SocketAddress) -> Contact:
        return Contact(peer, address[0], address[1])

    def room(self, address: SocketAddress) -> int:
        return LOOPBACK_BYTES if is_loopback(address[0]) else SAFE_BYTES

    async def connect(self, address: SocketAddress) -> socket.socket:
        sock = socket.socket(self.family, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            tune(sock)
            await asyncio.wait_for(asyncio.get_running_loop().sock_connect(sock, address), _CONNECT_S)
        except BaseException:
            sock.close()
            raise
        return sock

    def close(self) -> None:
        if self._endpoint is not None:
            self._endpoint.close()
        elif self._loop is not None:
            self._loop.remove_reader(self._socket)
        self._socket.close()


class _Endpoint(asyncio.DatagramProtocol):
    def __init__(self, port: DatagramPort) -> None:
        self._port = port

    def datagram_received(self, data: bytes, addr: SocketAddress) -> None:
        self._port.deliver(data, addr)

    def error_received(self, exc: Exception) -> None:
        self._port.send_errors += 1


def bind(hosts: tuple[str, ...], port: int) -> list[tuple[socket.socket, socket.socket]]:
    """Return a (datagram, listening) pair per host, all with one port number; port 0 means any that is free."""
    if not 0 <= port < 65536:  # the system would take its lowest 16 bits
        raise UsageError(f"port {port} is not between 0 (any that is free) and 65535")
    failure: OSError | None = None
    for _ in range(1 if port else _ATTEMPTS):
        bound: list[tuple[socket.socket, socket.socket]] = []
        try:
            number = port
            for host in hosts:
                bound.append(_bind_pair(host, number))
                number = bound[0][0].getsockname()[1]
        except OSError as exc:
            failure = exc
            for pair in bound:
                for sock in pair:
                    sock.close()
            if exc.errno not in (errno.EADDRINUSE, errno.EACCES):  # Windows keeps ranges of ports for itself
                break
        else:
            return bound
    raise CommError(f"cannot listen at {', '.join(hosts)} port {port or 'any'}: {failure}; choose another") from failure


def _bind_pair(host: str, port: int) -> tuple[socket.socket, socket.socket]:
    # As bytes: for text Python loads its tables of international names first, which takes longer than all of the rest.
    name = host.encode() if host.isascii() else host
    family, _, _, _, address = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
        datagrams = stack.enter_context(socket.socket(family, socket.SOCK_DGRAM))
        for sock in (listener, datagrams):
            sock.setblocking(False)
            if family == socket.AF_INET6:  # a pair per family: IPv4 peers never appear as ::ffff:1.2.3.4
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if os.name == "posix":  # a port whose last connections linger is free; Windows means something else by it
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        datagrams.bind((address[0], listener.getsockname()[1], *address[2:]))
        listener.listen(128)
        leave_unreported(datagrams)
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            with contextlib.suppress(OSError):  # macOS refuses what Linux silently caps
                datagrams.setsockopt(socket.SOL_SOCKET, option, _BUFFER_BYTES)
        stack.pop_all()
    return datagrams, listener


def tune(sock: socket.socket) -> None:
    """Make a connection send at once, and notice when its other end is gone."""
    if sock.family in (socket.AF_INET, socket.AF_INET6):  # a pair of sockets within this process may be of another
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def numeric(host: str) -> str | None:
    """Return an IP address in its usual spelling, or None if the host is a name."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return None


def socket_address(host: str, port: int) -> tuple[socket.AddressFamily, SocketAddress]:
    """Return family and address of a numeric host."""
    if ":" in host:
        return socket.AF_INET6, (host, port, 0, 0)
    return socket.AF_INET, (host, port)


def is_loopback(host: str) -> bool:
    return host.startswith("127.") or host == "::1"
