"""Rounds on one event loop: find a group, average with it, stay for those who are slower. What `averager` wraps.

Runs on any node, that of a simulation too; knows vectors, not the tensors they come from.
"""

from __future__ import annotations

import asyncio
import math
import random
from dataclasses import dataclass

import torch

from strobe.swarm.averaging.butterfly import Butterfly
from strobe.swarm.averaging.group import Group, Member
from strobe.swarm.averaging.hub import Hub
from strobe.swarm.averaging.matchmaker import Matchmaker
from strobe.swarm.averaging.round import Round
from strobe.swarm.averaging.settings import Settings
from strobe.swarm.averaging.state import Crunch, RoundState
from strobe.swarm.dht import Node
from strobe.swarm.dht.value import unpack


@dataclass(frozen=True, slots=True)
class Averaged:
    """A round, and the averages: local values where there are none."""

    round: Round
    values: torch.Tensor


class Engine:
    """One averager's rounds, one at a time. `schema` stands for what must be alike among those of a group."""

    def __init__(self, node: Node, settings: Settings, schema: bytes, *, crunch: Crunch, rng: random.Random) -> None:
        self.settings = settings
        self._node = node
        self._crunch = crunch
        self._matchmaker = Matchmaker(node, settings, schema, rng)
        self._hub = Hub.of(node.network)
        self._hub.add(settings.prefix, self._matchmaker)
        self._turn = asyncio.Lock()
        #: rounds that are over for us, but not for those whose values we reduce
        self._lingering: set[asyncio.Future[None]] = set()

    def configure(self, settings: Settings) -> None:
        """Use other settings from the next round on."""
        self.settings = self._matchmaker.settings = settings

    async def average(self, me: Member, vector: torch.Tensor, timeout_s: float | None = None) -> Averaged | None:
        """Average a vector with a group; None if none was found."""
        async with self._turn:  # one that was cancelled may still be about to leave its group
            settings, loop = self.settings, asyncio.get_running_loop()
            began = loop.time()
            group = await self._find(me, timeout_s)
            matched = loop.time()
            left_s = math.inf if timeout_s is None else timeout_s - (matched - began)
            if group is None or left_s <= 0:
                return None
            state = RoundState(
                group=group,
                place=group.places[me.id],
                vector=vector,
                network=self._node.network,
                settings=settings,
                crunch=self._crunch,
            )
            await self._run(Butterfly(state), min(settings.round_timeout_s, left_s))
            round_ = Round(
                members=tuple(member.id for member in group.members),
                gathered={member.id: unpack(member.gathered) for member in group.members},
                failed=frozenset(group.members[place].id for place in state.failed),
                seconds=loop.time() - matched,
                matchmaking_seconds=matched - began,
            )
            return Averaged(round_, state.average)

    async def _find(self, me: Member, timeout_s: float | None) -> Group | None:
        matchmaking_s = self.settings.matchmaking_s
        if timeout_s is None:
            return await self._matchmaker.find(me, matchmaking_s)
        try:
            # A group that begins when our time is over is of no use to us, and waits for us.
            return await asyncio.wait_for(self._matchmaker.find(me, min(matchmaking_s, timeout_s / 2)), timeout_s)
        except asyncio.TimeoutError:
            return None

    async def _run(self, butterfly: Butterfly, timeout_s: float) -> None:
        self._hub.begin(butterfly.state.group.id, butterfly.share)
        try:
            await butterfly.run(timeout_s)
        finally:
            self._node.in_background(self._linger(butterfly))

    async def detach(self) -> None:
        """Let others fetch what they need of us, then answer no more."""
        async with self._turn:
            if self._lingering:
                await asyncio.wait(self._lingering, timeout=self.settings.request_timeout_s)
            self._hub.remove(self.settings.prefix)

    async def _linger(self, butterfly: Butterfly) -> None:
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lingering.add(over)
        try:
            await butterfly.linger(self.settings.round_timeout_s)
        finally:
            self._hub.end(butterfly.state.group.id)
            self._lingering.discard(over)
            over.set_result(None)
