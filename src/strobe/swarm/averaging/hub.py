"""The averagers of one peer: whose group a message is about. One of these answers for all that share a network.

It stays while averagers come and go: a method has one handler.
"""

from __future__ import annotations

import asyncio
import contextlib
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
        #: set, and replaced, when another round begins
        self._news = asyncio.Event()
        network.serve(p.JOIN, self._on_join, max_payload=p.MAX_JOIN_BYTES)
        network.serve(p.PART, self._on_part)
        network.serve(p.ALIVE, self._on_alive, max_payload=p.MAX_IN_ROUND_BYTES)
        network.serve(p.LEAVE, self._on_leave, max_payload=p.MAX_IN_ROUND_BYTES)

    @classmethod
    def of(cls, network: Network) -> Hub:
        """Return the hub of a network."""
        hub = _hubs.get(network)
        if hub is None:
            hub = _hubs[network] = cls(network)
        return hub

    def add(self, prefix: str, matchmaker: Matchmaker) -> None:
        if prefix in self._matchmakers:
            raise UsageError(
                f"this peer has an averager with the prefix {prefix!r} already; shut it down, or use another"
            )
        self._matchmakers[prefix] = matchmaker

    def remove(self, prefix: str) -> None:
        self._matchmakers.pop(prefix, None)

    def begin(self, group_id: bytes, share: OwnShare) -> None:
        """Hand messages of this round to what answers for our share."""
        self._shares[group_id] = share
        self._news.set()
        self._news = asyncio.Event()

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
            prefix = message.metadata.get(p.PREFIX, "")
            number = int(message.metadata.get(p.NUMBER, ""))
        except (MalformedTensors, ValueError) as exc:
            raise PeerRefused(f"no part of a round: {exc}") from exc
        share = await self._share(group_id, prefix)
        return await share.on_part(caller.id, number, message)

    def _on_alive(self, caller: Caller, payload: Payload) -> Sendable:
        question = _in_round(payload)
        # Who still looks may be about to hear that its round has begun.
        if question.group not in self._shares and not self._is_looking(question.prefix):
            raise PeerRefused("no such round here, or it is over")
        return b""

    def _on_leave(self, caller: Caller, payload: Payload) -> Sendable:
        if (share := self._shares.get(_in_round(payload).group)) is not None:
            share.on_leave(caller.id)
        return b""

    def _is_looking(self, prefix: str) -> bool:
        matchmaker = self._matchmakers.get(prefix)
        return matchmaker is not None and matchmaker.is_looking

    async def _share(self, group_id: bytes, prefix: str) -> OwnShare:
        clock = asyncio.get_running_loop().time
        deadline = clock() + _PATIENCE_S
        # Others may have been told before us that the group is complete. Nothing is kept about it: strangers name it.
        while group_id not in self._shares and self._is_looking(prefix) and (left_s := deadline - clock()) > 0:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._news.wait(), left_s)
        share = self._shares.get(group_id)
        if share is None:
            raise PeerRefused("no such round here, or it is over")
        return share


def _in_round(payload: Payload) -> p.InRound:
    try:
        return p.decode_in_round(payload)
    except p.Malformed as exc:
        raise PeerRefused(str(exc)) from exc
