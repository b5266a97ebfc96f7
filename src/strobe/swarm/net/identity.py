"""Who a peer is: one secret seed, two public keys derived from it, and an id that is the hash of both.

The Ed25519 key signs what outlives a connection (records); the X25519 key proves the peer in a handshake, where a
signature would cost three times as much. Because the id binds both, a peer that was dialled by id can show neither
key of somebody else. Knows files and keys, nothing of sockets.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import os
import secrets
import stat
import sys
from pathlib import Path

import cryptography.hazmat.backends.openssl.backend  # noqa: F401  # or else the first key that is made waits for it
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from strobe.errors import Error, UsageError
from strobe.swarm.net.network import PeerId

PEER_ID_BYTES = 20
#: both public keys, Ed25519 then X25519, as they travel in handshakes
PUBLIC_BYTES = 64
_SEED_BYTES = 32
_FILE_PREFIX = "strobe-peer-1 "


class IdentityUnusable(Error):
    """A file does not hold an identity, or others can read it."""


def peer_id_of(public: bytes) -> PeerId:
    """Return the id of the peer with these 64 bytes of public keys."""
    return PeerId(hashlib.sha256(b"strobe peer id 1" + public).digest()[:PEER_ID_BYTES])


def peer_text(peer_id: bytes) -> str:
    """Return an id as 32 lower-case letters and digits."""
    return base64.b32encode(peer_id).decode().lower()


def parse_peer_id(text: str) -> PeerId:
    """Return the id that `peer_text` wrote."""
    try:
        peer_id = base64.b32decode(text.upper().encode())
    except (binascii.Error, ValueError) as exc:
        raise UsageError(f"{text!r} is no peer id: {exc}; it is 32 letters a-z and digits 2-7") from exc
    if len(peer_id) != PEER_ID_BYTES:
        raise UsageError(f"{text!r} is no peer id: {len(text)} characters; it is 32 letters a-z and digits 2-7")
    return PeerId(peer_id)


def verify(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Tell whether the owner of an Ed25519 key signed the message."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


class Identity:
    """A peer's keys."""

    __slots__ = ("_seed", "_signing", "exchange", "peer_id", "public", "public_key")

    def __init__(self, seed: bytes) -> None:
        if len(seed) != _SEED_BYTES:
            raise UsageError(f"an identity's seed has {_SEED_BYTES} bytes, this one {len(seed)}")
        self._seed = seed
        # One derivation per purpose: neither key tells anything about the other.
        self._signing = Ed25519PrivateKey.from_private_bytes(_derive(seed, b"sign"))
        self.exchange = X25519PrivateKey.from_private_bytes(_derive(seed, b"exchange"))
        self.public_key = self._signing.public_key().public_bytes_raw()
        self.public = self.public_key + self.exchange.public_key().public_bytes_raw()
        self.peer_id = peer_id_of(self.public)

    def __repr__(self) -> str:
        return f"Identity({peer_text(self.peer_id)})"

    def __reduce__(self) -> tuple[type[Identity], tuple[bytes]]:
        """Pickle the secret, for a process of the same program: the keys themselves cannot be."""
        return Identity, (self._seed,)

    def sign(self, message: bytes) -> bytes:
        """Return an Ed25519 signature, 64 bytes."""
        return self._signing.sign(message)

    @classmethod
    def generate(cls) -> Identity:
        return cls(secrets.token_bytes(_SEED_BYTES))

    @classmethod
    def load(cls, path: Path) -> Identity:
        """Return the identity in a file; raises IdentityUnusable when the file is not one or others can read it."""
        text = path.read_text(encoding="ascii", errors="replace").strip()
        if sys.platform != "win32" and (mode := stat.S_IMODE(path.stat().st_mode)) & 0o077:
            raise IdentityUnusable(f"{path} can be read by others (mode {mode:03o}); run `chmod 600 {path}`")
        try:
            if not text.startswith(_FILE_PREFIX):
                raise ValueError(f"it does not begin with {_FILE_PREFIX.strip()!r}")
            return cls(base64.b32decode(text[len(_FILE_PREFIX) :].encode()))
        except ValueError as exc:
            raise IdentityUnusable(f"{path} holds no identity: {exc}; delete it to get a new one") from exc

    def save(self, path: Path) -> None:
        """Write the secret to a new file that only its owner can read; raises FileExistsError when there is one."""
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(_FILE_PREFIX + base64.b32encode(self._seed).decode() + "\n")
            file.flush()
            os.fsync(file.fileno())
        # The name appears with the whole content or not at all, and never over somebody else's.
        try:
            if sys.platform == "win32":
                draft.rename(path)
            else:
                os.link(draft, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                draft.unlink()

    @classmethod
    def load_or_create(cls, path: Path) -> Identity:
        """Return the identity in a file, made now if there is none; processes that race get the same one."""
        if not path.exists():
            with contextlib.suppress(FileExistsError):
                cls.generate().save(path)
        return cls.load(path)


def _derive(seed: bytes, purpose: bytes) -> bytes:
    return hashlib.blake2b(seed, digest_size=32, person=b"strobe peer", salt=purpose).digest()
