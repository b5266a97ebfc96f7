"""How much a peer gives to others: sizes, rates, times. Defaults suit a peer on the open internet.

Pure numbers; each part of the network reads those that concern it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one network accepts and keeps."""

    #: largest payload of a request or a reply
    max_payload: int = 256 << 20
    #: bytes of large requests and replies being received or worked on: one peer's, everybody's
    max_inbound_per_peer: int = 512 << 20
    max_inbound: int = 1 << 30
    #: bytes of replies that wait until they are fetched or read: one peer's, everybody's
    max_outbound_per_peer: int = 512 << 20
    max_outbound: int = 1 << 30
    #: requests of one peer: lasting rate per second, and how many at once after a pause
    requests_per_s: float = 5_000.0
    burst: int = 10_000
    #: requests being worked on: one peer's, everybody's
    max_running_per_peer: int = 512
    max_running: int = 4096
    #: datagram calls on the way: to one peer, to everybody (what socket buffers bear)
    max_in_flight_per_peer: int = 64
    max_in_flight: int = 256
    #: calls that wait or are on the way
    max_calls: int = 65_536
    #: sessions kept, of one peer and in all; the ones idle longest go first
    max_sessions_per_peer: int = 16
    max_sessions: int = 8192
    session_lifetime_s: float = 3600.0
    #: strangers between their first and last packet; from half of it on they have to prove their address first
    max_half_open: int = 256
    #: handshakes that strangers may cause per second, cookie or not
    handshakes_per_s: float = 1000.0
    #: handshakes of this side whose first packet is on the way; more wait, so that the answers fit into socket buffers
    max_dials: int = 128
    #: connections, of one peer and in all; the idle ones go first
    max_streams_per_peer: int = 16
    max_streams: int = 512 if os.name == "posix" else 256  # select watches 512 sockets on Windows, for all purposes
    #: connections that have not said yet which session they belong to
    max_unattached: int = 64
    stream_idle_s: float = 60.0
    #: how often a peer that is reached through relays renews that; mappings of NATs should live longer
    relay_renew_s: float = 15.0
    #: a stream on which a message has begun must move within this time
    stream_stall_s: float = 30.0
