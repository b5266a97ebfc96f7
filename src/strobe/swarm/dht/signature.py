"""Records that only their owner can change: a subkey names its owner's key, and the value carries a signature.

The owner of a subkey is the Ed25519 public key in its mark, as `validator.mark` writes it; whoever holds or reads a
record of a marked subkey checks the signature over place, subkey, expiration and value. Subkeys without a mark, and
plain values, are anybody's; they cannot replace a marked subkey. The mark has to be in the subkey: of a key, peers see
only the hash.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

import msgspec

from strobe.swarm.dht.validator import RawRecord, RecordValidator
from strobe.swarm.net.identity import Identity, verify

#: 32 bytes of key, then of signature 64 bytes, wherever msgpack put them
_MARK: Final = re.compile(rb"\[owner:ed25519:([0-9a-f]{64})\]")
_PREFIX: Final = b"[signature:"
_SIZE: Final = len(_PREFIX) + 64 + 1


class SignatureValidator:
    """Signs what the identity owns, and checks what others do."""

    priority = 10

    def __init__(self, identity: Identity) -> None:
        self._identities = {identity.public_key.hex().encode(): identity}
        self.mark = f"[owner:ed25519:{identity.public_key.hex()}]"

    def validate(self, record: RawRecord) -> bool:
        """Whether a marked record is signed by each of its owners; others are."""
        owners = _owners(record.subkey)
        if not owners:
            return True
        if len(owners) > 1 or len(record.value) < _SIZE or not record.value.endswith(b"]"):
            return False
        value, signature = record.value[:-_SIZE], record.value[-_SIZE:]
        if not signature.startswith(_PREFIX):
            return False
        return verify(bytes.fromhex(owners[0].decode()), signature[len(_PREFIX) : -1], _signed(record, value))

    def sign_value(self, record: RawRecord) -> bytes:
        """Return the value, signed if its mark is ours."""
        owners = _owners(record.subkey)
        if len(owners) != 1 or (identity := self._identities.get(owners[0])) is None:
            return record.value
        return record.value + _PREFIX + identity.sign(_signed(record, record.value)) + b"]"

    def strip_value(self, record: RawRecord) -> bytes:
        """Return the value without its signature."""
        return record.value[:-_SIZE] if _owners(record.subkey) else record.value

    def is_owned(self, subkey: bytes) -> bool:
        """Whether a packed subkey has a mark."""
        return bool(_owners(subkey))

    def merge_with(self, other: RecordValidator) -> bool:
        """Sign for the identities of another such validator too."""
        if not isinstance(other, SignatureValidator):
            return False
        self._identities = self._identities | other._identities
        return True


def _owners(subkey: bytes) -> list[bytes]:
    return list(dict.fromkeys(_MARK.findall(subkey)))


def _signed(record: RawRecord, value: bytes) -> bytes:
    """Return what is signed: all of the record, each part with its length, so that none can pass for another."""
    parts = msgspec.msgpack.encode([record.key, record.subkey, record.expires, value])
    return b"strobe record 1" + hashlib.sha256(parts).digest()
