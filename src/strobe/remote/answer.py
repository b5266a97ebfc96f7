"""What came of a request, in three words: it worked, try again later, or don't."""

from __future__ import annotations

from typing import Any

import msgspec


class Ok(msgspec.Struct, frozen=True):
    """The server did it."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = {}

    def json(self) -> Any:
        """Return the body decoded; raises msgspec.DecodeError for what is no JSON."""
        return msgspec.json.decode(self.body)


class Retry(msgspec.Struct, frozen=True):
    """Nobody there, nobody answering in time, or a server that cannot just now."""

    why: str
    #: seconds that the server asked to wait, 0 if it did not say
    after_s: float = 0.0
    status: int = 0


class Refused(msgspec.Struct, frozen=True):
    """The server understood and will not; the same again is of no use until somebody changes something."""

    why: str
    status: int = 0


Answer = Ok | Retry | Refused
