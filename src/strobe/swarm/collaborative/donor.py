"""The giving side of a state download: offers what this peer has, part by part, to a few peers at a time.

Three methods, whose names begin with a word of this donor's own: `offer` takes a snapshot and says what it consists of,
`part` gives one part of it, `done` ends the download; so do silence, and taking too long, after which a peer is not
served for a while that doubles each time: a few that never finish must not keep out all others. Peers that download the
same state share one copy. Who comes when too many are being served hears when to come again.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from strobe.errors import UsageError
from strobe.swarm.client.silence import Silence
from strobe.swarm.collaborative.state import (
    LEAST_PART_BYTES,
    MOST_PART_BYTES,
    Offer,
    Piece,
    Snapshot,
    encode_offer,
    encode_part,
    parts_of,
)
from strobe.swarm.net.network import Caller, Network, Payload, PeerBusy, PeerId, PeerRefused, Pieces, Sendable
from strobe.swarm.tensors import NotFinite

_LEAST_WAIT_S: Final = 0.25
_MOST_WAIT_S: Final = 30.0
_MAX_REQUEST_BYTES: Final = 1024


class PartRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which part of which download."""

    token: str
    part: int = 0


_decode_request = msgspec.json.Decoder(PartRequest).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class DonorOptions:
    """What a peer gives to those who download from it."""

    #: so little that a part does not take long over a slow line
    part_bytes: int = 2 << 20
    max_downloads: int = 4
    #: a download in which nothing was asked for so long is over, and one that takes so long in all
    idle_s: float = 30.0
    total_s: float = 300.0

    def __post_init__(self) -> None:
        if not LEAST_PART_BYTES <= self.part_bytes <= MOST_PART_BYTES:
            raise UsageError(
                f"part_bytes is {self.part_bytes}; a part has {LEAST_PART_BYTES} to {MOST_PART_BYTES} bytes"
            )
        if self.max_downloads < 1 or self.idle_s <= 0 or self.total_s <= 0:
            raise UsageError(
                f"{self.max_downloads} downloads, idle for {self.idle_s:g} s, {self.total_s:g} s in all; "
                "each must be above 0"
            )


@dataclass(slots=True)
class _Download:
    caller: PeerId
    snapshot: Snapshot
    parts: list[list[Piece]]
    #: numbers of those that were not given yet
    missing: set[int]
    began: float
    used: float


class Donor:
    """Serves the state that `take` returns. `version` tells whether it has changed since it was last taken."""

    def __init__(
        self,
        take: Callable[[], Snapshot],
        version: Callable[[], int],
        *,
        compression: str = "none",
        options: DonorOptions | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.word = secrets.token_hex(8)
        self.num_served = 0
        self._take: Callable[[], Snapshot] | None = take
        self._version = version
        self._compression = compression
        self._options = options or DonorOptions()
        self._clock = clock
        self._downloads: dict[str, _Download] = {}
        #: those who did not finish
        self._unfinished = Silence(clock=clock)
        self._latest: tuple[int, Snapshot] | None = None
        self._taking = asyncio.Lock()
        self._typical_s = _LEAST_WAIT_S
        self._timer: asyncio.TimerHandle | None = None

    def attach(self, network: Network) -> None:
        """Begin to serve. On the network's loop."""
        offer, part, done = methods_of(self.word)
        network.serve(offer, self._offer, max_payload=0)
        network.serve(part, self._part, max_payload=_MAX_REQUEST_BYTES)
        network.serve(done, self._done, max_payload=_MAX_REQUEST_BYTES)

    def close(self, network: Network) -> None:
        """Give nothing any more. On the network's loop."""
        for method in methods_of(self.word):
            network.unserve(method)
        self._take = self._latest = None
        self._downloads.clear()
        if self._timer is not None:
            self._timer.cancel()

    @property
    def num_downloads(self) -> int:
        """How many peers are downloading."""
        return len(self._downloads)

    async def _offer(self, caller: Caller, payload: Payload) -> Sendable:
        self._drop_unfinished()
        if (wait_s := self._unfinished.left_s(caller.id)) > 0:
            raise PeerBusy("the last download of this peer was not finished in time", wait_s)
        for token in [token for token, download in self._downloads.items() if download.caller == caller.id]:
            del self._downloads[token]  # it begins anew, and so has given that one up
        if len(self._downloads) >= self._options.max_downloads:
            raise PeerBusy(f"{len(self._downloads)} peers are downloading this state", self._wait_s())
        token = secrets.token_hex(16)
        snapshot = await self._snapshot()
        if len(self._downloads) >= self._options.max_downloads:  # others came while it was being taken
            raise PeerBusy(f"{len(self._downloads)} peers are downloading this state", self._wait_s())
        now = self._clock()
        specs = snapshot.specs
        parts = parts_of(specs, self._options.part_bytes)
        self._downloads[token] = _Download(caller.id, snapshot, parts, set(range(len(parts))), now, now)
        if self._timer is None:
            self._watch()
        return encode_offer(
            Offer(
                token=token,
                epoch=snapshot.epoch,
                part_bytes=self._options.part_bytes,
                tensors=specs,
                scalars=dict(snapshot.scalars),
            )
        )

    async def _part(self, caller: Caller, payload: Payload) -> Sendable:
        request, download = self._download(caller, payload)
        if not 0 <= request.part < len(download.parts):
            raise PeerRefused(f"no part {request.part} of {len(download.parts)}")
        part = download.parts[request.part]
        try:
            encoded: Pieces = await asyncio.to_thread(encode_part, download.snapshot, part, self._compression)
        except NotFinite as exc:
            raise PeerRefused(f"this peer's state is broken: {exc}") from exc
        download.missing.discard(request.part)
        return encoded

    def _done(self, caller: Caller, payload: Payload) -> Sendable:
        request, download = self._download(caller, payload)
        del self._downloads[request.token]
        if not download.missing:  # otherwise it was given up
            self._typical_s = self._clock() - download.began
            self.num_served += 1
            self._unfinished.answered(caller.id)
        self._drop_unfinished()
        return b""

    def _download(self, caller: Caller, payload: Payload) -> tuple[PartRequest, _Download]:
        try:
            request = _decode_request(payload)
        except (msgspec.DecodeError, UnicodeDecodeError) as exc:
            raise PeerRefused(f"no such request: {exc}") from exc
        self._drop_unfinished()
        download = self._downloads.get(request.token)
        if download is None or download.caller != caller.id:
            raise PeerRefused("this download is not known, was idle for too long or took too long; begin anew")
        download.used = self._clock()
        return request, download

    async def _snapshot(self) -> Snapshot:
        async with self._taking:  # who comes while it is being taken wants the same one
            version = self._version()
            if self._take is not None and (self._latest is None or self._latest[0] != version):
                self._latest = version, await asyncio.to_thread(self._take)
            if self._take is None or self._latest is None:  # perhaps since a moment ago
                raise PeerRefused("this peer has left the training")
            return self._latest[1]

    def _drop_unfinished(self) -> None:
        now = self._clock()
        for token, download in list(self._downloads.items()):
            if now - download.used > self._options.idle_s or now - download.began > self._options.total_s:
                del self._downloads[token]
                self._unfinished.failed(download.caller)
        if not self._downloads:
            self._latest = None  # nobody shares it any more

    def _watch(self) -> None:
        """Free what those who died on the way held, although nobody asks again."""
        self._drop_unfinished()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._options.idle_s, self._watch) if self._downloads else None

    def _wait_s(self) -> float:
        """Return when somebody is likely to be done."""
        return min(max(self._typical_s, _LEAST_WAIT_S), _MOST_WAIT_S)


def methods_of(word: str) -> tuple[str, str, str]:
    """Return the names under which a donor serves: offer, part, done."""
    return f"state.{word}.offer", f"state.{word}.part", f"state.{word}.done"
