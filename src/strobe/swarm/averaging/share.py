"""The share that this peer reduces: values of the others come in, each gets the average as the answer.

An answer is made once and kept while the round lasts: who was too slow to have a part in an average still gets it. Who
does not deliver the next part in time is dropped, and sends what is not finite too.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial

import torch

from strobe.swarm.averaging import protocol as p
from strobe.swarm.averaging.reduction import Reduction
from strobe.swarm.averaging.state import RoundState, part_specs
from strobe.swarm.net.network import PeerId, PeerRefused, Sendable
from strobe.swarm.tensors import MalformedTensors, Message, decode, encode, is_finite

_log = logging.getLogger("strobe.swarm.averaging")


class OwnShare:
    """Answers for our share of one round."""

    def __init__(self, state: RoundState, parts: list[range]) -> None:
        self._state = state
        self._parts = parts
        members = state.group.members
        weights = {place: member.weight for place, member in enumerate(members) if member.sends}
        self._reduction = Reduction(len(parts), weights)
        loop = asyncio.get_running_loop()
        self._answers: list[asyncio.Future[Sendable]] = [loop.create_future() for _ in parts]
        self._moved = asyncio.Event()
        self._publishing: set[asyncio.Future[None]] = set()
        #: who may still want something of us
        self._customers = {place for place, member in enumerate(members) if member.receives and place != state.place}
        self.is_idle = asyncio.Event()
        if not parts or not self._customers:
            self.is_idle.set()

    async def run(self) -> None:
        """Wait until all values for the share are there, dropping those who let the others wait."""
        state, reduction = self._state, self._reduction
        self._publish(reduction.settle(range(len(self._parts))))  # all of it, if nobody has values
        if state.me.sends:
            for number, part in enumerate(self._parts):
                self._publish(reduction.add(state.place, number, state.vector[part.start : part.stop]))
        clock = asyncio.get_running_loop().time
        oldest, since, check_at = reduction.oldest, clock(), clock() + state.settings.request_timeout_s
        while not reduction.is_done:
            self._moved.clear()
            try:
                await asyncio.wait_for(self._moved.wait(), check_at - clock())
            except asyncio.TimeoutError:
                await self._drop_dead(has_stalled=clock() - since > state.settings.stall_s)
                check_at = clock() + state.settings.request_timeout_s
            if reduction.oldest != oldest:
                oldest, since, check_at = reduction.oldest, clock(), clock() + state.settings.request_timeout_s

    async def _drop_dead(self, *, has_stalled: bool) -> None:
        """Drop those that keep the others waiting, unless they are only slow."""
        oldest, late = self._reduction.oldest, list(self._reduction.lacking)
        alive = [False] * len(late)
        if not has_stalled:
            alive = await asyncio.gather(*map(self._state.is_alive, late))
        for place, is_alive in zip(late, alive, strict=True):
            if not is_alive and self._reduction.oldest == oldest and place in self._reduction.lacking:
                _log.warning("%s did not deliver its values in time", self._state.group.members[place].address)
                self._let_go(place)

    async def give_up(self) -> None:
        """End what was begun, and answer those who still wait for an average that there is none."""
        self._state.failed.update(self._reduction.give_up())
        await asyncio.gather(*self._publishing, return_exceptions=True)
        for number in range(len(self._parts)):
            self._refuse(number)

    def _refuse(self, number: int) -> None:
        answer = self._answers[number]
        if not answer.done():
            answer.set_exception(PeerRefused("this peer gave up the round"))
            answer.exception()  # has been seen: it may be that nobody waits for it

    async def on_part(self, caller: PeerId, number: int, message: Message) -> Sendable:
        """Answer a member that sends its values of a part, or only wants the average."""
        place = self._state.group.places.get(caller)
        if place is None or not self._state.group.members[place].receives or not 0 <= number < len(self._parts):
            raise PeerRefused("no member of this round, or no part of this share")
        if message.specs and not self._answers[number].done():  # else too late; our averager may even be closed
            await self._take(place, number, message)
        return await asyncio.shield(self._answers[number])

    def on_leave(self, caller: PeerId) -> None:
        """Let a member go that needs nothing more, or gives up."""
        place = self._state.group.places.get(caller)
        if place is not None:
            self._let_go(place)

    def _let_go(self, place: int) -> None:
        """Wait no more for a member's values, nor for it to fetch averages."""
        self._publish(self._reduction.drop(place))
        self._customers.discard(place)
        if not self._customers:
            self.is_idle.set()

    async def _take(self, place: int, number: int, message: Message) -> None:
        expected = part_specs(len(self._parts[number]))
        try:
            if message.specs != expected:
                raise PeerRefused(f"this part has {expected}; given: {dict(message.specs)!s:.200}")
            values = await self._state.crunch(lambda: _opened(message))
        except PeerRefused:
            self._publish(self._reduction.drop(place))
            raise
        self._publish(self._reduction.add(place, number, values))

    def _publish(self, closed: list[int]) -> None:
        """Make the answers of parts that are complete."""
        for number in closed:
            task = asyncio.ensure_future(self._publish_part(number))
            self._publishing.add(task)
            task.add_done_callback(partial(self._end_publishing, number))
        self._moved.set()

    def _end_publishing(self, number: int, task: asyncio.Future[None]) -> None:
        self._publishing.discard(task)
        if not task.cancelled() and isinstance(error := task.exception(), Exception):
            self._state.note_bug(self._state.place, error)
            self._refuse(number)

    async def _publish_part(self, number: int) -> None:
        state, part = self._state, self._parts[number]
        mean, missing = self._reduction.mean(number)
        state.failed.update(missing)
        answer, average = await state.crunch(lambda: self._packed(mean, missing))
        if average is not None and state.me.receives:
            state.average[part.start : part.stop] = average
        if not self._answers[number].done():
            self._answers[number].set_result(answer)

    def _packed(self, mean: torch.Tensor | None, missing: tuple[int, ...]) -> tuple[Sendable, torch.Tensor | None]:
        """Return a mean as everybody gets it, and what they make of it: the same numbers for all, us too."""
        metadata = {p.MISSING: ",".join(map(str, missing))}
        if mean is None or not is_finite(mean):  # finite values may have a sum that is not
            return encode({}, metadata), None
        compression = self._state.settings.compression
        answer = encode({p.VALUES: mean}, metadata, compression=compression)
        return answer, mean if compression == "none" else decode(answer.joined()).tensors()[p.VALUES]


def _opened(message: Message) -> torch.Tensor:
    try:
        values = message.tensors()[p.VALUES]
    except MalformedTensors as exc:
        raise PeerRefused(str(exc)) from exc
    if not is_finite(values):
        raise PeerRefused("this part has NaN or infinite values")
    return values
