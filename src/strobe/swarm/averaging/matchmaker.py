"""Finds groups through the DHT: declares this peer, reads who else looks, asks the earliest, answers those who ask.

What is decided, `Lobby` decides; here are the calls and the waiting. A leader and its followers hear of each other
every few seconds at most, so that neither waits for one that has died.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

from strobe.swarm.averaging import key
from strobe.swarm.averaging import protocol as p
from strobe.swarm.averaging.group import Group, Member
from strobe.swarm.averaging.lobby import CLOCK_SKEW_S, Candidate, Lobby
from strobe.swarm.averaging.settings import Settings
from strobe.swarm.client.link import ask
from strobe.swarm.dht import Node, ValueWithExpiration
from strobe.swarm.net.network import Caller, NetworkError, PeerRefused

_log = logging.getLogger("strobe.swarm.averaging")
#: how often the DHT is read while nothing happens: soon at first, when several begin at the same time
_FIRST_LOOK_S: Final = 0.1
_LAST_LOOK_S: Final = 1.0
#: when, of the time for matchmaking, a peer goes up to keys with fewer bits
_FIRST_CLIMB: Final = 0.25
_LAST_CLIMB: Final = 0.75


class Matchmaker:
    """Looks for one group at a time. On the node's event loop."""

    def __init__(self, node: Node, settings: Settings, schema: bytes, rng: random.Random) -> None:
        self.settings = settings
        self.schema = schema
        self._node = node
        self._rng = rng
        self._bits = key.random_bits(rng)
        #: of the last time we looked, kept for followers who have not heard yet that it is over
        self._lobby: Lobby | None = None
        self._changed = asyncio.Event()
        self._expiration = 0.0
        self.is_looking = False

    async def find(self, me: Member, matchmaking_s: float) -> Group | None:
        """Return a group that has this peer in it, or None when time is over."""
        settings = self.settings
        lobby = self._lobby = Lobby(
            me,
            self._node.clock() + matchmaking_s,
            target_size=settings.target_group_size,
            min_size=settings.min_group_size,
            silence_s=1.5 * settings.request_timeout_s,
        )
        self.is_looking = True
        search = _Search(self, lobby, matchmaking_s)
        group = None
        try:
            group = await search.run()
        finally:
            self.is_looking = False
            lobby.is_over = True
            self.notify()
            if me.reduces:
                self._node.in_background(self._withdraw(search.keys))
        if group is None:
            self._bits = key.random_bits(self._rng)
        else:
            self._bits = key.mixed_bits(self._bits, group.places[me.id], len(group.members))
        return group

    # -- answers to others -------------------------------------------------------------------------------------------

    async def on_join(self, caller: Caller, join: p.Join) -> p.News:
        """Let a peer in, and hold the answer until there is news, but not for long."""
        if join.schema != self.schema:
            raise PeerRefused("tensors, part_bytes or compression of the two averagers differ")
        lobby = self._lobby
        if lobby is None:
            raise PeerRefused("this peer looks for no group")
        member = p.parse_member(join.member)
        if member.id != caller.id:
            raise p.Malformed("a peer joins as somebody else")
        is_new = lobby.admit(member, join.deadline, self._node.clock())
        self.begin_if_full(lobby)
        if not is_new and isinstance(lobby.news(caller.id), p.Wait):
            try:
                await self.wait_for_change(self.settings.request_timeout_s / 2)
            except asyncio.CancelledError:
                lobby.forget(caller.id)
                raise
        news = lobby.news(caller.id)
        if news is None:
            raise PeerRefused("this peer does not lead a group that has room for you")
        return news

    def begin_if_full(self, lobby: Lobby) -> bool:
        if is_full := lobby.begin_if_full(self._node.clock(), self._rng):
            self.notify()
        return is_full

    def notify(self) -> None:
        """Wake all who wait for news."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait_for_change(self, timeout_s: float) -> None:
        try:
            await asyncio.wait_for(self._changed.wait(), timeout_s)
        except asyncio.TimeoutError:
            return

    # -- the DHT -----------------------------------------------------------------------------------------------------

    async def declare(self, keys: list[str], value: Any, *, in_census: bool = False) -> None:
        """Store the same word of this peer under several keys."""
        stored = [*keys, key.census_key(self.settings.prefix)] if in_census else keys
        values = [value] * len(keys) + [True] * in_census
        me = self._node.network.address.id
        await self._node.store_many(stored, values, self._next_expiration(), [me] * len(stored))

    def _next_expiration(self) -> float:
        """Return when a record expires: later than those before it, which it must replace."""
        life_s = self.settings.matchmaking_s + self.settings.round_timeout_s
        self._expiration = max(self._node.clock() + life_s, self._expiration + 1e-3)
        return self._expiration

    async def _withdraw(self, keys: list[str]) -> None:
        await self.declare(keys, None)

    async def count_peers(self) -> int:
        """Return how many have looked for groups lately."""
        found = await self._node.get(key.census_key(self.settings.prefix))
        return len(found.value) if found is not None and isinstance(found.value, dict) else 1

    def candidates_in(self, records: Mapping[Any, ValueWithExpiration | None]) -> Iterator[Candidate]:
        """Yield who looks for a group, as far as what strangers wrote makes sense."""
        for record in records.values():
            entries = record.value if record is not None and isinstance(record.value, dict) else {}
            for peer_id, entry in entries.items():
                value = entry.value if isinstance(entry, ValueWithExpiration) else None
                if not isinstance(value, tuple) or len(value) != 3:
                    continue
                text, deadline, schema = value
                if not isinstance(text, str) or not isinstance(deadline, float):
                    continue
                try:
                    address = p.parse_address(text)
                except p.Malformed:
                    continue
                if schema != self.schema:
                    _log.warning(
                        "%s averages %r too, but its tensors, part_bytes or compression differ: it is left out",
                        address,
                        self.settings.prefix,
                    )
                elif address.id == peer_id:
                    yield Candidate(address, deadline)

    def own_bits(self, num_peers: int) -> list[str]:
        """Return the keys to look under, the own first."""
        settings = self.settings
        return key.path_of(settings.prefix, self._bits, key.num_bits(num_peers, settings.target_group_size))

    @property
    def node(self) -> Node:
        return self._node

    @property
    def rng(self) -> random.Random:
        return self._rng


class _Search:
    """One search for a group."""

    def __init__(self, matchmaker: Matchmaker, lobby: Lobby, matchmaking_s: float) -> None:
        self._matchmaker = matchmaker
        self._node = matchmaker.node
        self._settings = matchmaker.settings
        self._lobby = lobby
        self._began = lobby.deadline - matchmaking_s
        self._matchmaking_s = matchmaking_s
        self._path: list[str] = []
        #: where we have declared ourselves
        self.keys: list[str] = []
        self._look_at = 0.0
        self._look_s = _FIRST_LOOK_S

    async def run(self) -> Group | None:
        lobby, matchmaker, clock = self._lobby, self._matchmaker, self._node.clock
        num_peers = await matchmaker.count_peers() if self._settings.target_group_size is not None else 1
        self._path = matchmaker.own_bits(num_peers)
        while not matchmaker.begin_if_full(lobby):
            now = clock()
            if now >= lobby.deadline:
                lobby.begin(now, matchmaker.rng)
                break
            if now >= self._look_at or now >= self._climb_at:
                await self._look()
            elif (leader := lobby.best(now)) is not None:
                if (group := await self._follow(leader)) is not None:
                    return group
            else:
                await matchmaker.wait_for_change(min(self._look_at, self._climb_at, lobby.deadline) - now)
        return lobby.group

    @property
    def _climb_at(self) -> float:
        """When to go up to the next key."""
        left, steps = len(self._path) - len(self.keys), len(self._path) - 1
        if not self.keys:
            return 0.0
        if not left:
            return self._lobby.deadline
        done = (len(self.keys) - 1) / max(steps - 1, 1)
        return self._began + self._matchmaking_s * (_FIRST_CLIMB + done * (_LAST_CLIMB - _FIRST_CLIMB))

    async def _look(self) -> None:
        """Read the keys, and declare ourselves under a new one if it is time for that."""
        lobby, matchmaker = self._lobby, self._matchmaker
        if self._node.clock() >= self._climb_at:
            is_first = not self.keys
            new = self._path[len(self.keys)]
            self.keys.append(new)
            if lobby.me.reduces:
                value = (str(lobby.me.address), lobby.deadline, matchmaker.schema)
                # Declare before reading: of two who begin together, one at least sees the other.
                await matchmaker.declare([new], value, in_census=is_first)
        lobby.hear(matchmaker.candidates_in(await self._node.get_many(self.keys, latest=True)))
        self._look_at = self._node.clock() + self._look_s * matchmaker.rng.uniform(0.5, 1.5)
        self._look_s = min(2 * self._look_s, _LAST_LOOK_S)

    async def _follow(self, leader: Candidate) -> Group | None:
        """Ask a leader, and wait with it; None if there is nothing to wait for any more."""
        lobby, timeout_s = self._lobby, self._settings.request_timeout_s
        lobby.court()
        wire = p.wire_member(lobby.me)
        join = p.encode(p.Join(self._settings.prefix, self._matchmaker.schema, lobby.deadline, wire))
        try:
            while self._node.clock() < max(lobby.deadline, leader.deadline) + CLOCK_SKEW_S:
                answer = await ask(self._node.network, leader.address, p.JOIN, join, timeout_s=timeout_s)
                news = p.decode_news(answer)
                if isinstance(news, p.Begin):
                    return self._checked(p.parse_group(news), leader)
                if isinstance(news, p.Moved):
                    lobby.hear([Candidate(p.parse_address(news.address), news.deadline)])
                    break
                lobby.follow(leader)
                self._matchmaker.notify()
        except (NetworkError, p.Malformed) as exc:
            _log.debug("%s does not lead us: %s", leader.address, exc)
        finally:
            lobby.lead()
        lobby.refuse(leader)
        return None

    def _checked(self, group: Group, leader: Candidate) -> Group:
        """Return the group if we are in it as what we are; else its leader lies."""
        me = self._lobby.me
        place = group.places.get(me.id)
        if place is None or group.members[place] != me or leader.address.id not in group.places:
            raise p.Malformed("a group without us, or without its leader")
        if len(group.members) < self._settings.min_group_size:
            raise p.Malformed(f"a group of {len(group.members)}")
        return group
