"""The word that experts are served here: given to the DHT when their server starts, and again before it expires.

Runs on the event loop of the peer's network. Knows names and addresses; what the experts are is no matter here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from strobe.swarm.dht import Node
from strobe.swarm.experts.directory import AT_ONCE, declare
from strobe.swarm.experts.uid import ExpertUid

_log = logging.getLogger("strobe.swarm.experts")
#: of a period: how soon a round that failed is tried again, and how long it is quiet after one that took all of it
_PAUSE: Final = 0.25
_CANCEL_S: Final = 0.1


class Declaring:
    """Experts that stay declared from `begin` to `end`; each declaration lives `life_s`."""

    def __init__(self, node: Node, uids: Sequence[ExpertUid], *, period_s: float, life_s: float) -> None:
        self._node = node
        self._uids = uids
        self._period_s = period_s
        self._life_s = life_s
        self._address = node.network.address
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Declare the experts, return when that is done, and go on in the background."""
        pause_s = await self._round()
        self._task = asyncio.get_running_loop().create_task(self._renew(pause_s))

    async def end(self) -> None:
        """Declare nothing any more; what was declared expires by itself."""
        # More than once: before Python 3.12, wait_for may answer a cancellation with the result it just got.
        while self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_CANCEL_S)

    async def _renew(self, pause_s: float) -> None:
        while True:
            # At once when others reach us elsewhere, through another relay: what is declared leads nowhere then.
            moved = asyncio.ensure_future(self._node.network.moved(self._address))
            try:
                await asyncio.wait([moved], timeout=pause_s)
            finally:
                moved.cancel()
            try:
                pause_s = await self._round()
            except Exception:  # noqa: BLE001  # experts that are not declared any more are lost, though they are here
                pause_s = self._period_s * _PAUSE
                _log.exception("experts could not be declared; trying again in %g s", pause_s)

    async def _round(self) -> float:
        """Declare all; return how long that may rest."""
        clock = asyncio.get_running_loop().time
        started = clock()
        self._address = address = self._node.network.address
        accepted: dict[str, bool] = {}
        for start in range(0, len(self._uids), AT_ONCE):
            # Each lives from when it is declared: with many, the last ones come long after the first.
            batch = self._uids[start : start + AT_ONCE]
            accepted.update(await declare(self._node, batch, address, self._node.clock() + self._life_s))
        if not all(accepted.values()):
            taken = [uid for uid, is_ours in accepted.items() if not is_ours]
            _log.warning(
                "another peer has declared %d of these experts for longer, or written something else in their part of "
                "the grid, such as of %s; they may not be found here",
                len(taken),
                taken[0],
            )
        # So that every expert's turn comes once in a period, however long a round takes.
        return max(self._period_s - (clock() - started), self._period_s * _PAUSE)
