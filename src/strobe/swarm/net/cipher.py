"""Sealing bytes: AES-256-GCM for real, and a suite without any protection for benchmarks and tests.

AES-GCM because it was quicker than ChaCha20-Poly1305 on every size measured (1.9 times at 64 KB); processors without
AES instructions pay for that choice. Peers of different suites never talk: the suite is part of the first packet and of
the transcript, so there is nothing to downgrade.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from strobe.swarm.net.network import Payload

KEY_BYTES = 32
_NONCE = struct.Struct("<IQ")

__all__ = ["AES_GCM", "KEY_BYTES", "PLAIN", "Cipher", "InvalidTag", "Suite", "nonce"]


def nonce(counter: int) -> bytes:
    """Return the 12 bytes that belong to the n-th use of a key."""
    return _NONCE.pack(0, counter)


@lru_cache(maxsize=256)
def _public_key(raw: bytes) -> X25519PublicKey:
    # Each is used two or three times in a handshake, and those of busy peers in many.
    return X25519PublicKey.from_public_bytes(raw)


class Cipher(Protocol):
    """One key. `decrypt` and `decrypt_into` raise InvalidTag on bytes that this key did not seal."""

    def encrypt(self, nonce: bytes, data: Payload, associated_data: bytes | None) -> bytes: ...

    def decrypt(self, nonce: bytes, data: Payload, associated_data: bytes | None) -> bytes: ...

    def encrypt_into(self, nonce: bytes, data: Payload, associated_data: bytes | None, buf: Payload) -> int: ...

    def decrypt_into(self, nonce: bytes, data: Payload, associated_data: bytes | None, buf: Payload) -> int: ...


class Suite(Protocol):
    """How a pair of peers seals: the code that names it in packets, what a seal adds, its keys and its exchange."""

    @property
    def code(self) -> int: ...

    @property
    def tag_bytes(self) -> int: ...

    def cipher(self, key: bytes) -> Cipher: ...

    def exchange(self, private: X25519PrivateKey, public: bytes) -> bytes:
        """Return the shared secret; raises ValueError when the public key is of low order."""


@dataclass(frozen=True, slots=True)
class _AesGcm:
    code: int = 1
    tag_bytes: int = 16

    def cipher(self, key: bytes) -> Cipher:
        return AESGCM(key)

    def exchange(self, private: X25519PrivateKey, public: bytes) -> bytes:
        return private.exchange(_public_key(public))


class _Open:
    """A cipher that does nothing."""

    __slots__ = ()

    def encrypt(self, nonce: bytes, data: Payload, associated_data: bytes | None) -> bytes:
        return bytes(data)

    decrypt = encrypt

    def encrypt_into(self, nonce: bytes, data: Payload, associated_data: bytes | None, buf: Payload) -> int:
        memoryview(buf)[: len(data)] = data
        return len(data)

    decrypt_into = encrypt_into


_OPEN = _Open()


@dataclass(frozen=True, slots=True)
class _Plain:
    code: int = 0
    tag_bytes: int = 0

    def cipher(self, key: bytes) -> Cipher:
        return _OPEN

    def exchange(self, private: X25519PrivateKey, public: bytes) -> bytes:
        return b""


AES_GCM: Suite = _AesGcm()
#: no secrecy, no authentication: for measuring what those cost
PLAIN: Suite = _Plain()
