"""What the endpoints work with: one value, made when the server starts, read by all, changed by none.

Everything that outlives a request is in here, so that two applications in one process (as in tests) share nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much one request may bring."""

    #: a batch, decompressed
    batch_bytes: int = 32 << 20
    #: the body of an ingest request as it comes in; decompressed it may have `expansion` times as much
    request_bytes: int = 64 << 20
    #: one part of a file
    part_bytes: int = 64 << 20
    #: a JSON body
    json_bytes: int = 8 << 20
    #: how often larger than what came in a decompressed body may be
    expansion: int = 200


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How this server was started."""

    #: local: `strobe ui`, on this machine, for the person who started it; server: for everybody with a key
    mode: Literal["local", "server"] = "server"
    #: names by which the server may be called besides addresses of this machine; "*" for any
    allowed_hosts: tuple[str, ...] = ()
    #: whether browsers reach it through TLS (cookies are marked secure then)
    is_tls: bool = False
    limits: Limits = Limits()


class Stopping:
    """Whether the server is about to go: streams end themselves when it is."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def __bool__(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        self._event.set()

    async def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the server stops, at most that long; return whether it does."""
        try:
            await asyncio.wait_for(self._event.wait(), timeout_s)
        except asyncio.TimeoutError:
            return False
        return True


@dataclass(frozen=True, kw_only=True)
class Services:
    """What every endpoint can reach as `call.services`."""

    #: the store's facade; its calls block, so they go through `call.in_thread`
    store: Any
    settings: ServerSettings = field(default_factory=ServerSettings)
    #: nanoseconds since the epoch
    clock: Callable[[], int] = time.time_ns
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("strobe.server"))
    stopping: Stopping = field(default_factory=Stopping)
