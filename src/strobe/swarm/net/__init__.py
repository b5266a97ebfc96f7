"""Peers that talk: identity, addresses, authenticated sessions, calls over datagrams and streams on one port.

    network = await PeerNetwork.listen(Identity.generate(), ["0.0.0.0", "::"], 4711)
    network.serve("echo", lambda caller, payload: payload)
    answer = await network.call(Address.parse(text).contact, "echo", b"words", timeout_s=3)

What is above imports `network` (the seam, without sockets); docs/swarm-wire.md says what goes over the wire.
"""

from strobe.swarm.net.address import Address
from strobe.swarm.net.cipher import AES_GCM, PLAIN
from strobe.swarm.net.identity import Identity, IdentityUnusable, parse_peer_id, peer_text, verify
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.network import (
    Caller,
    Contact,
    Handler,
    Network,
    NetworkError,
    NoRoute,
    Payload,
    PeerBusy,
    PeerId,
    PeerRefused,
    PeerUnreachable,
    Pieces,
    ReplyTooLarge,
    Sendable,
)
from strobe.swarm.net.peer_network import PeerNetwork
from strobe.swarm.net.relay.limits import RelayLimits

__all__ = [
    "AES_GCM",
    "PLAIN",
    "Address",
    "Caller",
    "Contact",
    "Handler",
    "Identity",
    "IdentityUnusable",
    "Limits",
    "Network",
    "NetworkError",
    "NoRoute",
    "Payload",
    "PeerBusy",
    "PeerId",
    "PeerNetwork",
    "PeerRefused",
    "PeerUnreachable",
    "Pieces",
    "RelayLimits",
    "ReplyTooLarge",
    "Sendable",
    "parse_peer_id",
    "peer_text",
    "verify",
]
