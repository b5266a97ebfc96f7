"""Our values to one reducer, its averages to us: part by part, a few on the way at a time.

Everything that comes back is checked: size, dtype, that values are finite. A reducer that fails is given up, and what
it has not averaged keeps local values.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

import torch

from strobe.swarm.averaging import protocol as p
from strobe.swarm.averaging.state import RoundState, part_specs
from strobe.swarm.client.link import ask
from strobe.swarm.client.size import most_bytes
from strobe.swarm.net.network import NetworkError, Payload
from strobe.swarm.tensors import MalformedTensors, decode, encode, is_finite

_log = logging.getLogger("strobe.swarm.averaging")
#: parts on their way to one reducer: the next is there when the one before is averaged
_WINDOW: Final = 3


class BadAnswer(Exception):
    """A reducer answered what is no average, or nothing."""


class Trade:
    """With the reducer at one place of the group."""

    def __init__(self, state: RoundState, place: int, parts: list[range]) -> None:
        self._state = state
        self.place = place
        self._parts = parts
        self._address = state.group.members[place].address

    async def run(self) -> None:
        """Have it average its share; never raises for what it does."""
        try:
            await self._exchange_all()
        except (NetworkError, BadAnswer) as exc:
            self._state.failed.add(self.place)
            _log.warning("%s did not average its share, which keeps local values: %s", self._address, exc)
        except asyncio.CancelledError:
            self._state.failed.add(self.place)
            raise

    async def say_goodbye(self) -> None:
        """Tell it that we need nothing more, so that it need not stay for us."""
        leave = p.encode(p.InRound(self._state.group.id, self._state.settings.prefix))
        timeout_s = self._state.settings.request_timeout_s
        try:
            await ask(
                self._state.network,
                self._address,
                p.LEAVE,
                leave,
                timeout_s=timeout_s,
                max_reply=p.MAX_IN_ROUND_BYTES,
            )
        except NetworkError as exc:
            _log.debug("%s did not hear our goodbye: %s", self._address, exc)

    async def _exchange_all(self) -> None:
        waiting = list(range(len(self._parts)))[::-1]
        pending: set[asyncio.Future[None]] = set()
        # It may itself wait that long for somebody else, and needs some time for itself.
        patience_s = 2 * self._state.settings.request_timeout_s
        clock = asyncio.get_running_loop().time
        since = clock()
        try:
            while waiting or pending:
                while waiting and len(pending) < _WINDOW:
                    pending.add(asyncio.ensure_future(self._exchange(waiting.pop())))
                done, pending = await asyncio.wait(pending, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    since = clock()
                    for task in done:
                        task.result()
                elif clock() - since > self._state.settings.stall_s or not await self._state.is_alive(self.place):
                    raise BadAnswer(f"no answer for {clock() - since:.1f} s")
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    async def _exchange(self, number: int) -> None:
        state, part = self._state, self._parts[number]
        settings = state.settings
        metadata = {p.GROUP: state.group.id.hex(), p.PREFIX: settings.prefix, p.NUMBER: str(number)}
        values = {p.VALUES: state.vector[part.start : part.stop]} if state.me.sends else {}
        request = await state.crunch(lambda: encode(values, metadata, compression=settings.compression))
        most = most_bytes(part_specs(len(part)).values())
        answer = await ask(
            state.network, self._address, p.PART, request, timeout_s=settings.round_timeout_s, max_reply=most
        )
        average, missing = await state.crunch(lambda: self._opened(answer, len(part)))
        state.failed.update(missing)
        if average is not None:
            state.average[part.start : part.stop] = average

    def _opened(self, answer: Payload, length: int) -> tuple[torch.Tensor | None, list[int]]:
        """Return the average of a part, None if nobody had delivered it, and whose values it lacks."""
        try:
            message = decode(answer)
            if message.specs and message.specs != part_specs(length):
                raise BadAnswer(f"it answered {dict(message.specs)!s:.200} where {length} values belong")
            missing = [int(place) for place in message.metadata.get(p.MISSING, "").split(",") if place]
            average = message.tensors().get(p.VALUES)
        except (MalformedTensors, ValueError) as exc:
            raise BadAnswer(f"it answered what it should not: {exc}") from exc
        if not all(0 <= place < len(self._state.group.members) for place in missing):
            raise BadAnswer("it misses members that there are not")
        if average is not None and not is_finite(average):
            raise BadAnswer("it answered NaN or infinite values")
        return average, missing
