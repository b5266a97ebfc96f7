"""Two strangers become a session: three packets in the manner of Noise XX, as pure functions of keys and bytes.

    -> e                      the initiator's ephemeral key, in the clear
    <- e, ee, s, es           the responder's, and its identity, sealed
    -> s, se                  the initiator's identity, sealed; data may follow in the same datagram

Identities are two public keys whose hash is the peer id, so the initiator knows that it reached whom it dialled, and
every packet is bound to all before it by the transcript's hash. Ephemeral keys serve a few seconds of handshakes (that
saves a quarter of their cost); the nonces keep sessions of one such key apart. No clock, no sockets, no retries here.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from strobe.errors import Error
from strobe.swarm.net.cipher import Cipher, Suite, nonce
from strobe.swarm.net.identity import PUBLIC_BYTES, Identity, peer_id_of, peer_text
from strobe.swarm.net.network import PeerId
from strobe.swarm.net.packet import NO_COOKIE, Accept, Init, pack_finish

_NAME = b"strobe swarm handshake 1: XX, X25519, SHA-256"
_SHA256 = SHA256()
# OpenSSL gets ready for keys of this kind with the first of them, which takes milliseconds: here and not where it is
# used, for who starts a peer waits for the peer.
X25519PrivateKey.generate()


class HandshakeFailed(Error):
    """A packet of a handshake is not what an honest peer sends."""


class Ephemeral:
    """A key for the handshakes of a few seconds, then forgotten."""

    __slots__ = ("born", "private", "public")

    def __init__(self, now: float) -> None:
        self.born = now
        self.private = X25519PrivateKey.generate()
        self.public = self.private.public_key().public_bytes_raw()


class Keys(NamedTuple):
    """What a finished handshake leaves: keys by direction, the secret that streams derive theirs from, and the peer."""

    send: bytes
    receive: bytes
    stream_secret: bytes
    peer_id: PeerId
    public: bytes


class _Transcript:
    """All that was said so far, as a hash, and all that was agreed on, as a chain of keys."""

    __slots__ = ("_chain", "_cipher", "_hash", "_suite", "_uses")

    def __init__(self, suite: Suite, init: Init) -> None:
        self._suite = suite
        # A cookie proves an address to whoever made it; it is not part of what the two agree on.
        self._hash = hashlib.sha256(_NAME + init._replace(cookie=NO_COOKIE).pack()).digest()
        self._chain = self._hash
        self._cipher: Cipher  # from the first agreement on
        self._uses = 0

    def hear(self, words: bytes) -> None:
        self._hash = hashlib.sha256(self._hash + words).digest()

    def agree(self, secret: bytes) -> None:
        derived = HKDF(_SHA256, 64, self._chain, self._hash).derive(secret)
        self._chain, self._cipher, self._uses = derived[:32], self._suite.cipher(derived[32:]), 0

    def seal(self, data: bytes) -> bytes:
        sealed = self._cipher.encrypt(nonce(self._uses), data, self._hash)
        self._uses += 1
        self.hear(sealed)
        return sealed

    def open(self, sealed: bytes) -> bytes:
        try:
            data = self._cipher.decrypt(nonce(self._uses), sealed, self._hash)
        except InvalidTag as exc:
            raise HandshakeFailed("a sealed part of a handshake does not open") from exc
        self._uses += 1
        self.hear(sealed)
        return data

    def split(self) -> tuple[bytes, bytes, bytes]:
        """Return the key from initiator to responder, the one back, and the secret for streams."""
        derived = HKDF(_SHA256, 96, self._chain, b"split" + self._hash).derive(b"")
        return derived[:32], derived[32:64], derived[64:]


def _exchange(suite: Suite, private: X25519PrivateKey, public: bytes) -> bytes:
    try:
        return suite.exchange(private, public)
    except ValueError as exc:
        raise HandshakeFailed(f"a public key is of no use: {exc}") from exc


@dataclass(frozen=True, slots=True)
class Initiator:
    """The side that dials."""

    suite: Suite
    identity: Identity
    ephemeral: Ephemeral
    init: Init

    @classmethod
    def begin(cls, suite: Suite, identity: Identity, ephemeral: Ephemeral, to: PeerId, index: int) -> Initiator:
        random = secrets.token_bytes(16)
        init = Init(suite.code, index, to, identity.peer_id, ephemeral.public, random, NO_COOKIE)
        return cls(suite, identity, ephemeral, init)

    def finish(self, accept: Accept) -> tuple[bytes, Keys]:
        """Return the last packet and the keys; raises HandshakeFailed unless the dialled peer itself answered."""
        suite, transcript = self.suite, _Transcript(self.suite, self.init)
        transcript.hear(accept.ephemeral + accept.nonce)
        transcript.agree(_exchange(suite, self.ephemeral.private, accept.ephemeral))
        cut = PUBLIC_BYTES + suite.tag_bytes
        public = transcript.open(accept.sealed[:cut])
        if (peer_id := peer_id_of(public)) != self.init.to:
            raise HandshakeFailed(f"{peer_text(self.init.to)} was dialled and {peer_text(peer_id)} answered")
        transcript.agree(_exchange(suite, self.ephemeral.private, public[32:]))
        transcript.open(accept.sealed[cut:])
        sealed = transcript.seal(self.identity.public)
        transcript.agree(_exchange(suite, self.identity.exchange, accept.ephemeral))
        sealed += transcript.seal(b"")
        send, receive, stream_secret = transcript.split()
        return pack_finish(accept.sender, sealed), Keys(send, receive, stream_secret, peer_id, public)


class Responder:
    """The side that is dialled, between its answer and the proof of who it was that dialled."""

    __slots__ = ("_ephemeral", "_suite", "_transcript", "accept", "claimed", "remote_index")

    def __init__(self, suite: Suite, identity: Identity, ephemeral: Ephemeral, init: Init, index: int) -> None:
        """Answer an INIT that is meant for this peer; `accept` is the packet. Raises HandshakeFailed."""
        self._suite = suite
        self._ephemeral = ephemeral
        self.claimed = init.claimed
        self.remote_index = init.sender
        self._transcript = transcript = _Transcript(suite, init)
        random = secrets.token_bytes(16)
        transcript.hear(ephemeral.public + random)
        transcript.agree(_exchange(suite, ephemeral.private, init.ephemeral))
        sealed = transcript.seal(identity.public)
        transcript.agree(_exchange(suite, identity.exchange, init.ephemeral))
        sealed += transcript.seal(b"")
        self.accept = Accept(init.sender, index, ephemeral.public, random, sealed).pack()

    def finish(self, sealed: bytes) -> Keys:
        """Return the keys; raises HandshakeFailed unless the initiator is who it claimed to be. Only once."""
        cut = PUBLIC_BYTES + self._suite.tag_bytes
        transcript = self._transcript
        public = transcript.open(sealed[:cut])
        if (peer_id := peer_id_of(public)) != self.claimed:
            raise HandshakeFailed(f"a peer said to be {peer_text(self.claimed)} and is {peer_text(peer_id)}")
        transcript.agree(_exchange(self._suite, self._ephemeral.private, public[32:]))
        transcript.open(sealed[cut:])
        receive, send, stream_secret = transcript.split()
        return Keys(send, receive, stream_secret, peer_id, public)
