"""One search for a group: reads the board, asks the earliest to lead, waits with it, or leads those who come.

What is decided, `Lobby` decides; here are the calls and the waiting. A leader and its followers hear of each other
every few seconds at most, so that neither waits for one that has died.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from typing import Final

from strobe.swarm.averaging import protocol as p
from strobe.swarm.averaging.board import Board
from strobe.swarm.averaging.group import Group
from strobe.swarm.averaging.lobby import CLOCK_SKEW_S, Candidate, Lobby
from strobe.swarm.client.link import ask
from strobe.swarm.net.network import Network, NetworkError, Payload, PeerUnreachable

_log = logging.getLogger("strobe.swarm.averaging")
#: how often the board is read while nothing happens: soon at first, when several begin at the same time
_FIRST_LOOK_S: Final = 0.1
_LAST_LOOK_S: Final = 1.0
#: when, of the time for matchmaking, a peer goes up to keys with fewer bits
_FIRST_CLIMB: Final = 0.25
_LAST_CLIMB: Final = 0.75


class Bell:
    """Wakes all who wait for something to change."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, timeout_s: float) -> None:
        try:
            await asyncio.wait_for(self._event.wait(), timeout_s)
        except asyncio.TimeoutError:
            return


class Search:
    """Fills a lobby until it has a group or its time is over."""

    def __init__(
        self,
        lobby: Lobby,
        board: Board,
        bell: Bell,
        *,
        network: Network,
        clock: Callable[[], float],
        rng: random.Random,
        request_timeout_s: float,
    ) -> None:
        self._lobby = lobby
        self._board = board
        self._bell = bell
        self._network = network
        self._clock = clock
        self._rng = rng
        self._request_timeout_s = request_timeout_s
        #: where we have looked so far
        self.keys: list[str] = []
        self._began = clock()
        #: when one that began to look as late as could be, for as long as we do, has its group
        self._latest = lobby.deadline + (lobby.deadline - self._began)
        self._look_at = 0.0
        self._look_s = _FIRST_LOOK_S

    async def run(self, join: bytes, path: list[str]) -> Group | None:
        """Return the group. `join` is what to say to a leader, `path` the keys to look under, our own first."""
        lobby = self._lobby
        while not lobby.begin_if_full(now := self._clock(), self._rng):
            climb_at = self._climb_at(len(path))
            if now >= lobby.deadline:
                lobby.begin(now, self._rng)
                break
            if now >= climb_at:
                await self._climb(path)
            elif now >= self._look_at:
                await self._look()
            elif (leader := lobby.best(now)) is not None:
                if (group := await self._follow(leader, join)) is not None:
                    return group
            else:
                await self._bell.wait(min(self._look_at, climb_at, lobby.deadline) - now)
        return lobby.group

    def _climb_at(self, num_keys: int) -> float:
        """Return when to go on to the next key."""
        num_done = len(self.keys)
        if not num_done:
            return self._began
        if num_done == num_keys:
            return self._lobby.deadline
        share = _FIRST_CLIMB + (_LAST_CLIMB - _FIRST_CLIMB) * (num_done - 1) / max(num_keys - 2, 1)
        return self._began + share * (self._lobby.deadline - self._began)

    async def _climb(self, path: list[str]) -> None:
        self.keys.append(path[len(self.keys)])
        if self._lobby.me.reduces:
            # Declare before reading: of two who begin together, one at least sees the other.
            await self._board.declare(self.keys[-1], self._lobby.deadline)
        await self._look()

    async def _look(self) -> None:
        self._lobby.hear(await self._board.read(self.keys))
        self._look_at = self._clock() + self._look_s * self._rng.uniform(0.5, 1.5)
        self._look_s = min(2 * self._look_s, _LAST_LOOK_S)

    async def _follow(self, leader: Candidate, join: bytes) -> Group | None:
        """Ask a leader, and wait with it; None if there is nothing to wait for any more."""
        lobby = self._lobby
        # A client follows those who came later too, but not for ever: when they are to begin is their own word.
        until = min(max(lobby.deadline, leader.deadline), self._latest) + CLOCK_SKEW_S
        lobby.court()
        try:
            while self._clock() < until:
                news = p.decode_news(await self._ask_twice(leader, join))
                if isinstance(news, p.Begin):
                    return lobby.accept(p.parse_group(news), leader)
                if isinstance(news, p.Moved):
                    lobby.hear([Candidate(p.parse_address(news.address), news.deadline)])
                    break
                lobby.follow(leader)
                self._bell.ring()
        except (NetworkError, p.Malformed) as exc:
            _log.debug("%s does not lead us: %s", leader.address, exc)
        finally:
            lobby.lead()
        lobby.refuse(leader)
        return None

    async def _ask_twice(self, leader: Candidate, join: bytes) -> Payload:
        """Ask for news; if the answer was lost, again: it may be that the group has begun, and counts on us."""
        try:
            return await self._ask(leader, join)
        except PeerUnreachable:
            return await self._ask(leader, join)

    async def _ask(self, leader: Candidate, join: bytes) -> Payload:
        timeout_s = self._request_timeout_s / 2
        return await ask(self._network, leader.address, p.JOIN, join, timeout_s=timeout_s, max_reply=p.MAX_NEWS_BYTES)
