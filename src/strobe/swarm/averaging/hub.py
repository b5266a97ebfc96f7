"""The averagers of one peer: whose group a message is about. One of these answers for all that share a network.

A network serves a method once and for good, while averagers come and go.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from strobe.errors import UsageError
from strobe.swarm.averaging import protocol as p
from strobe.swarm.net.network import Caller, Network, Payload, PeerRefused, Sendable
from strobe.swarm.tensors import MalformedTensors, decode

if TYPE_CHECKING:
    from strobe.swarm.averaging.matchmaker import Matchmaker
    from strobe.swarm.averaging.share import OwnShare

#: how long a part waits for the news, on another path, that its round has begun
_PATIENCE_S: Final = 5.0
_hubs: WeakKeyDictionary[Network, Hub] = WeakKeyDictionary()


class Hub:
    """Make it with `Hub.of`. Belongs to the network's event loop."""

    def __init__(self, network: Network) -> None:
        self._matchmakers: dict[str, Matchmaker] = {}
        self._shares: dict[bytes, OwnShare] = {}
        self._awaited: dict[bytes, asyncio.Event] = {}
        network.serve(p.JOIN, self._on_join)
        network.serve(p.PART, self._on_part)
        network.serve(p.ALIVE, self._on_alive)
        network.serve(p.LEAVE, self._on_leave)

    @classmethod
    def of(cls, network: Network) -> Hub:
        """Return the hub of a network."""
        hub = _hubs.get(network)
        if hub is None:
            hub = _hubs[network] = cls(network)
        return hub

    def add(self, prefix: str, matchmaker: Matchmaker) -> None:
        if prefix in self._matchmakers:
            raise UsageError(f"this peer has an averager with the prefix {prefix!r} already; close it, or use another")
        self._matchmakers[prefix] = matchmaker

    def remove(self, prefix: str) -> None:
        self._matchmakers.pop(prefix, None)

    def begin(self, group_id: bytes, share: OwnShare) -> None:
        """Hand messages of this round to what answers for our share."""
        self._shares[group_id] = share
        if (awaited := self._awaited.pop(group_id, None)) is not None:
            awaited.set()

    def end(self, group_id: bytes) -> None:
        self._shares.pop(group_id, None)

    async def _on_join(self, caller: Caller, payload: Payload) -> Sendable:
        try:
            join = p.decode_join(payload)
            matchmaker = self._matchmakers.get(join.prefix)
            if matchmaker is None:
                raise PeerRefused(f"nobody averages {join.prefix!r:.80} here")
            return p.encode(await matchmaker.on_join(caller, join))
        except p.Malformed as exc:
            raise PeerRefused(str(exc)) from exc

    async def _on_part(self, caller: Caller, payload: Payload) -> Sendable:
        try:
            message = decode(payload)
            group_id = bytes.fromhex(message.metadata.get(p.GROUP, ""))
            number = int(message.metadata.get(p.NUMBER, ""))
        except (MalformedTensors, ValueError) as exc:
            raise PeerRefused(f"no part of a round: {exc}") from exc
        share = await self._share(group_id)
        return await share.on_part(caller.id, number, message)

    def _on_alive(self, caller: Caller, payload: Payload) -> Sendable:
        # Who still looks may be about to hear that its round has begun.
        if self._share_of(payload) is None and not self._is_looking:
            raise PeerRefused("no such round here, or it is over")
        return b""

    def _on_leave(self, caller: Caller, payload: Payload) -> Sendable:
        if (share := self._share_of(payload)) is not None:
            share.on_leave(caller.id)
        return b""

    def _share_of(self, payload: Payload) -> OwnShare | None:
        try:
            return self._shares.get(p.decode_in_round(payload).group)
        except p.Malformed as exc:
            raise PeerRefused(str(exc)) from exc

    @property
    def _is_looking(self) -> bool:
        return any(matchmaker.is_looking for matchmaker in self._matchmakers.values())

    async def _share(self, group_id: bytes) -> OwnShare:
        if group_id not in self._shares and self._is_looking:
            # Others may have been told before us that the group is complete.
            awaited = self._awaited.setdefault(group_id, asyncio.Event())
            try:
                await asyncio.wait_for(awaited.wait(), _PATIENCE_S)
            except asyncio.TimeoutError:
                self._awaited.pop(group_id, None)
        share = self._shares.get(group_id)
        if share is None:
            raise PeerRefused("no such round here, or it is over")
        return share
