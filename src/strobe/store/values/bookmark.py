"""Where a page of runs ended: an opaque text that the next request brings back.

It holds the sort key and the id of the last run, so the next page goes on exactly behind it whatever was added or
removed meanwhile, and a fingerprint of the question, so that it cannot be used for another one. It gives no access: a
forged one can only name another place in a list that the caller may read anyway.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Any

import msgspec

from strobe.errors import UsageError
from strobe.store.values.leaf import MAX_TEXT

_VERSION = 1
_MAX_LENGTH = 4_000


class Bookmark(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A place in a list of runs."""

    version: int
    question: bytes
    #: the time that running runs were measured by
    now_ns: int
    #: which part of the list, and the key and run in it
    phase: int
    key: float | int | str
    run_id: int


_decode = msgspec.msgpack.Decoder(Bookmark).decode


def fingerprint(*question: Any) -> bytes:
    """Return what tells one question from another."""
    text = json.dumps(question, sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def write(question: bytes, now_ns: int, phase: int, key: float | str, run_id: int) -> str:
    """Return the text of a bookmark."""
    body = msgspec.msgpack.encode(Bookmark(_VERSION, question, now_ns, phase, key, run_id))
    return base64.urlsafe_b64encode(body).decode().rstrip("=")


def read(text: str, question: bytes) -> Bookmark:
    """Return the bookmark; raise UsageError if it is none, or belongs to another question."""
    if len(text) > _MAX_LENGTH:
        raise UsageError(f"the cursor has {len(text)} characters; give it back as it was received")
    try:
        found = _decode(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, msgspec.MsgspecError, ValueError) as error:
        raise UsageError(f"{text[:40]!r} is not a cursor; give it back as it was received") from error
    if found.version != _VERSION or found.question != question:
        raise UsageError("the cursor belongs to another filter, order or project; start again from the first page")
    if isinstance(found.key, str) and (len(found.key) > MAX_TEXT or "\0" in found.key):
        raise UsageError(f"{text[:40]!r} is not a cursor; give it back as it was received")
    numbers = [found.run_id, found.now_ns, found.key if isinstance(found.key, int) else 0]
    if any(not -(2**63) <= number < 2**63 for number in numbers):
        raise UsageError(f"{text[:40]!r} is not a cursor; give it back as it was received")
    return found
