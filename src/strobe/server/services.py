"""What the endpoints work with: one value, made when the server starts, read by all, changed by none.

Everything that outlives a request is in here, so that two applications in one process (as in tests) share nothing.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import msgspec

from strobe.errors import StoreError
from strobe.server.alerts import AlertSettings, Courier
from strobe.server.curve_shelf import CurveShelf
from strobe.server.gate import Gate
from strobe.server.live import Hub, StoreSource
from strobe.server.metrics import Metrics
from strobe.server.rate import Buckets, Rate
from strobe.server.signing import Signer
from strobe.server.threads import Threads
from strobe.store.size import database_bytes

if TYPE_CHECKING:
    from strobe.store.store import Store

#: while it is taken in a batch takes several times what it has
_BATCHES_BYTES = 128 << 20
_BODIES_BYTES = 128 << 20


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much one request may bring."""

    #: a batch, decompressed
    batch_bytes: int = 32 << 20
    #: the body of an ingest request as it comes in
    request_bytes: int = 64 << 20
    #: the same, decompressed
    decompressed_bytes: int = 1 << 30
    #: one part of a file
    part_bytes: int = 64 << 20
    #: many small files in one request
    bundle_bytes: int = 8 << 20
    #: a JSON body
    json_bytes: int = 8 << 20


class RateLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How many requests are answered: generous, against mistakes rather than against people."""

    #: of one key
    key: Rate = Rate(per_s=200, burst=2000)
    #: of one address without a key
    address: Rate = Rate(per_s=50, burst=500)
    #: wrong keys from one address
    failure: Rate = Rate(per_s=0.5, burst=20)


class Rates:
    """The buckets behind the limits."""

    def __init__(self, limits: RateLimits | None = None) -> None:
        chosen = limits or RateLimits()
        self.keys = Buckets(chosen.key)
        self.addresses = Buckets(chosen.address)
        self.failures = Buckets(chosen.failure)


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How this server was started."""

    #: local: `strobe ui`, on this machine, for the person who started it; server: for everybody with a key
    mode: Literal["local", "server"] = "server"
    #: names by which the server may be called besides addresses of this machine; "*" for any
    allowed_hosts: tuple[str, ...] = ()
    #: whether /metrics needs no key
    is_metrics_open: bool = False
    limits: Limits = Limits()
    rates: RateLimits = RateLimits()
    #: the mail server, and where webhooks may go
    alerts: AlertSettings = AlertSettings()


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
    store: Store
    settings: ServerSettings = field(default_factory=ServerSettings)
    #: nanoseconds since the epoch
    clock: Callable[[], int] = time.time_ns
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("strobe.server"))
    metrics: Metrics = field(default_factory=Metrics)
    rates: Rates = field(default_factory=Rates)
    #: for sessions and for links to uploads and downloads
    signer: Signer = field(default_factory=Signer)
    stopping: Stopping = field(default_factory=Stopping)
    threads: Threads = field(default_factory=Threads)
    #: how many requests are taken in at once, and how many bytes of their batches
    gate: Gate = field(default_factory=lambda: Gate(64, max_bytes=_BATCHES_BYTES))
    #: how many bytes of other bodies are held at once; small ones do not count
    bodies: Gate = field(default_factory=lambda: Gate(1 << 30, "held", max_bytes=_BODIES_BYTES))
    #: how many sinks of alerts are tried at once
    trying: Gate = field(default_factory=lambda: Gate(4, "being tried"))
    #: curves that were asked for lately
    curves: CurveShelf = field(default_factory=CurveShelf)

    @cached_property
    def live(self) -> Hub:
        """What tells subscribers of changes; it looks only while there are any."""
        source = StoreSource(self.store.database)
        hub = Hub(source, is_stopping=lambda: bool(self.stopping), clock=self.clock, log=self.log)
        self.metrics.streams.ask(lambda: hub.num_subscribers)
        return hub

    @cached_property
    def courier(self) -> Courier:
        """What delivers alerts."""
        return Courier(self.store.alerts.outbox, self.settings.alerts, clock=self.clock, log=self.log)


def open_services(store: Store, settings: ServerSettings, log: logging.Logger) -> Services:
    """Return what a server that runs needs: limits as set, and the secret that all servers of the store share."""
    metrics = Metrics()
    metrics.store_bytes.ask(lambda: _size(store, log))
    return Services(
        store=store,
        settings=settings,
        log=log,
        metrics=metrics,
        rates=Rates(settings.rates),
        signer=Signer(store.accounts.secret("signing")),
    )


def _size(store: Store, log: logging.Logger) -> float:
    try:
        return database_bytes(store.database)
    except StoreError as error:  # the other figures are worth showing, then more than ever
        log.warning("the size of the store could not be found out: %s", error)
        return math.nan
