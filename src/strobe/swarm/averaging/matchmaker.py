"""Finds groups, one after the other, each time under other keys; and answers those who ask to be led."""

from __future__ import annotations

import asyncio
import random

from strobe.swarm.averaging import key
from strobe.swarm.averaging import protocol as p
from strobe.swarm.averaging.board import Board
from strobe.swarm.averaging.group import Group, Member
from strobe.swarm.averaging.lobby import Lobby
from strobe.swarm.averaging.search import Bell, Search
from strobe.swarm.averaging.settings import Settings
from strobe.swarm.dht import Node
from strobe.swarm.net.network import Caller, PeerRefused


class Matchmaker:
    """Looks for one group at a time. On the node's event loop."""

    def __init__(self, node: Node, settings: Settings, schema: bytes, rng: random.Random) -> None:
        self.settings = settings
        self.is_looking = False
        self._node = node
        self._schema = schema
        self._rng = rng
        self._bits = key.random_bits(rng, settings.group_bits or "")
        #: who look for groups, as of the last time we looked
        self._num_peers = 1
        # What is on the board is remembered until the next round, if all goes well.
        self._board = Board(node, settings.prefix, schema, settings.matchmaking_s + settings.round_timeout_s)
        self._bell = Bell()
        #: of the last time we looked, kept for followers who have not heard yet how it ended
        self._lobby: Lobby | None = None

    async def find(self, me: Member, matchmaking_s: float) -> Group | None:
        """Return a group that has this peer in it, or None when time is over."""
        settings = self.settings
        deadline = self._node.clock() + matchmaking_s
        lobby = self._lobby = Lobby(
            me,
            deadline,
            target_size=settings.target_group_size,
            min_size=settings.min_group_size,
            silence_s=1.5 * settings.request_timeout_s,
        )
        search = Search(
            lobby,
            self._board,
            self._bell,
            network=self._node.network,
            clock=self._node.clock,
            rng=self._rng,
            request_timeout_s=settings.request_timeout_s,
        )
        join = p.encode(p.Join(settings.prefix, self._schema, deadline, p.wire_member(me)))
        self.is_looking = True
        try:
            group = await search.run(join, key.path_of(settings.prefix, self._bits, self._depth))
        finally:
            self.is_looking = False
            lobby.is_over = True
            self._bell.ring()
            self._node.in_background(self._tidy(search.keys if me.reduces else []))
        if group is None:
            self._bits = key.random_bits(self._rng)
        else:
            self._bits = key.mixed_bits(self._bits, group.places[me.id], len(group.members))
        return group

    @property
    def _depth(self) -> int:
        """How many bits tell our key from others'."""
        if self.settings.group_bits is not None:
            return len(self.settings.group_bits)
        return key.num_bits(self._num_peers, self.settings.target_group_size)

    async def _tidy(self, keys: list[str]) -> None:
        """Take our words off the board, and count who is there, while a round goes on or none came about."""
        await self._board.withdraw(keys)
        if self.settings.target_group_size is not None and self.settings.group_bits is None:
            self._num_peers = await self._board.count()

    async def on_join(self, caller: Caller, join: p.Join) -> p.News:
        """Let a peer in, and hold the answer until there is news, but not for long."""
        if join.schema != self._schema:
            raise PeerRefused("tensors, part_bytes or compression of the two averagers differ")
        lobby = self._lobby
        if lobby is None:
            raise PeerRefused("this peer looks for no group")
        member = p.parse_member(join.member)
        if member.id != caller.id:
            raise p.Malformed("a peer joins as somebody else")
        is_new = lobby.admit(member, join.deadline, self._node.clock())
        if lobby.begin_if_full(self._node.clock(), self._rng):
            self._bell.ring()
        if not is_new and isinstance(lobby.news(caller.id), p.Wait):
            try:
                await self._bell.wait(self.settings.request_timeout_s / 4)
            except asyncio.CancelledError:
                lobby.forget(caller.id)
                raise
        news = lobby.news(caller.id)
        if news is None:
            raise PeerRefused("this peer does not lead a group that has room for you")
        return news
