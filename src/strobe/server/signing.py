"""Tokens that only this store's servers can have made: sessions, links for uploads and downloads.

A token carries a text and an end in the open, and a signature over both and over what it is for, so that a link cannot
be used as a session.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

import msgspec

#: what fits into an address wherever it goes through
MAX_TOKEN = 4096


class Signer:
    """Signs and checks with one secret; without one given, with a random one that nobody else has."""

    def __init__(self, secret: bytes | None = None) -> None:
        self._secret = secrets.token_bytes(32) if secret is None else secret

    def sign(self, purpose: str, text: str, *, expires_ns: int) -> str:
        """Return a token that holds `text` until then; safe in URLs and cookies."""
        payload = msgspec.msgpack.encode((expires_ns, text))
        return f"{_to_text(payload)}.{_to_text(self._signature(purpose, payload))}"

    def read(self, purpose: str, token: str, *, now_ns: int) -> str | None:
        """Return the text of a token, None if it was not made here for this purpose, or has ended."""
        if len(token) > MAX_TOKEN:
            return None
        head, _, tail = token.partition(".")
        try:
            payload, signature = _to_bytes(head), _to_bytes(tail)
        except (binascii.Error, ValueError):
            return None
        if not hmac.compare_digest(signature, self._signature(purpose, payload)):
            return None
        expires_ns, text = msgspec.msgpack.decode(payload, type=tuple[int, str])
        return text if now_ns < expires_ns else None

    def _signature(self, purpose: str, payload: bytes) -> bytes:
        return hmac.new(self._secret, purpose.encode() + b"\0" + payload, hashlib.sha256).digest()


def _to_text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def _to_bytes(text: str) -> bytes:
    return base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
