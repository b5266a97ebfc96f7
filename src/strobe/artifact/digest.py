"""Digests of contents: base64 in manifests, hex in paths, by one of two algorithms.

MD5 is what wandb's manifests hold; it names contents here and protects against damage, not against an enemy.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Protocol

from strobe.artifact.chunk import iter_chunks
from strobe.errors import MissingExtra, UsageError

MD5 = "MD5"
XXH128 = "XXH128"

_MANIFEST_PREAMBLE = b"wandb-artifact-manifest-v1\n"


class Hasher(Protocol):
    """What both libraries offer."""

    def update(self, content: bytes | memoryview, /) -> object: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...


def check_algorithm(algorithm: str) -> str:
    """Return `algorithm` if it's known and its library is installed."""
    new_hasher(algorithm)
    return algorithm


def new_hasher(algorithm: str) -> Hasher:
    """Return an empty hasher for "MD5" or "XXH128"."""
    if algorithm == MD5:
        import hashlib

        return hashlib.md5(usedforsecurity=False)
    if algorithm == XXH128:
        try:
            import xxhash  # type: ignore[import-not-found,unused-ignore]  # optional library
        except ImportError as exc:
            raise MissingExtra("digest_algorithm='XXH128' needs xxhash: pip install xxhash") from exc
        hasher: Hasher = xxhash.xxh128()
        return hasher
    raise UsageError(f"digest_algorithm is {algorithm!r}; it can be 'MD5' or 'XXH128'")


def encode(raw: bytes) -> str:
    """Return raw digest bytes as manifests hold them."""
    import binascii

    return binascii.b2a_base64(raw, newline=False).decode()


def to_hex(digest: str) -> str:
    """Return a manifest's digest as lower-case hex, or raise UsageError if it isn't one."""
    import binascii

    try:
        raw = binascii.a2b_base64(digest)
    except ValueError as exc:
        raise UsageError(f"{digest!r} is not the base64 digest of a file") from exc
    if len(raw) != 16 or encode(raw) != digest:
        raise UsageError(f"{digest!r} is not the base64 digest of a file")
    return raw.hex()


def of_text(text: str) -> str:
    """Return the MD5 digest of a string: stands for a reference whose content is not read."""
    hasher = new_hasher(MD5)
    hasher.update(text.encode())
    return encode(hasher.digest())


def of_file(file: io.FileIO, algorithm: str) -> str:
    """Return the digest of all that `file` holds."""
    hasher = new_hasher(algorithm)
    for chunk in iter_chunks(file):
        hasher.update(chunk)
    return encode(hasher.digest())


def of_manifest(entries: Iterable[tuple[str, str]], algorithm: str) -> str:
    """Return an artifact's digest from (path, digest) pairs, equal to what wandb computes."""
    hasher = new_hasher(algorithm)
    hasher.update(_MANIFEST_PREAMBLE)
    for path, digest in sorted(entries):
        hasher.update(f"{path}:{digest}\n".encode())
    return hasher.hexdigest()
