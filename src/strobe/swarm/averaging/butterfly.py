"""One round of a group: everybody sends every share to its reducer, and gets the average of it back.

A part of a share is one call: the values go out, and the average comes as its answer, once everybody's are there. Who
does not deliver the next part in time is dropped by the reducer, and the average is that of the others; a reducer that
does not answer is given up, and its share keeps local values. So nobody waits longer than a few time-outs.
"""

from __future__ import annotations

import asyncio
import logging

from strobe.swarm.averaging.share import OwnShare
from strobe.swarm.averaging.split import split_parts, split_shares
from strobe.swarm.averaging.state import RoundState
from strobe.swarm.averaging.trade import Trade

_log = logging.getLogger("strobe.swarm.averaging")


class Butterfly:
    """This peer's side of a round. On the network's event loop."""

    def __init__(self, state: RoundState) -> None:
        self.state = state
        members = state.group.members
        shares = split_shares(len(state.vector), [member.bandwidth if member.reduces else 0.0 for member in members])
        parts = [split_parts(share, state.settings.part_length) for share in shares]
        self.share = OwnShare(state, parts[state.place])
        self._trades = [
            Trade(state, place, theirs)
            for place, theirs in enumerate(parts)
            if theirs and place != state.place and state.me.receives
        ]

    async def run(self, timeout_s: float) -> None:
        """Average. Returns when all that can be had is in the state; never raises for what others do."""
        tasks = {asyncio.ensure_future(trade.run()): trade.place for trade in self._trades}
        tasks[asyncio.ensure_future(self.share.run())] = self.state.place
        try:
            await asyncio.wait(tasks, timeout=timeout_s)
        finally:
            for task in tasks:
                task.cancel()
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
            for place, outcome in zip(tasks.values(), outcomes, strict=True):
                if isinstance(outcome, Exception):
                    self.state.note_bug(place, outcome)
            await self.share.give_up()

    async def linger(self, timeout_s: float) -> None:
        """Wait until everybody knows that we need nothing more, and has what it needs of us."""
        await asyncio.gather(*(trade.say_goodbye() for trade in self._trades))
        try:
            await asyncio.wait_for(self.share.is_idle.wait(), timeout_s)
        except asyncio.TimeoutError:
            _log.debug("some members of %s did not say goodbye", self.state.group.id.hex())
