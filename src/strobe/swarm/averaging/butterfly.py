"""One round of a group: everybody sends every share to its reducer, and gets the average of it back.

A part of a share is one call: the values go out, and the average comes as its answer, once everybody's are there. Who
does not deliver the next part in time is dropped by the reducer, and the average is that of the others; a reducer that
does not answer is given up, and its share keeps local values. So nobody waits longer than a few time-outs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Protocol, TypeVar

import torch

from strobe.swarm.averaging import protocol as p
from strobe.swarm.averaging.group import Group
from strobe.swarm.averaging.reduction import Reduction
from strobe.swarm.averaging.settings import Settings
from strobe.swarm.averaging.split import split_parts, split_shares
from strobe.swarm.client.link import ask
from strobe.swarm.net.network import Network, NetworkError, Payload, PeerId, PeerRefused, Sendable
from strobe.swarm.tensors import MalformedTensors, Message, TensorSpec, decode, encode, is_finite

_log = logging.getLogger("strobe.swarm.averaging")
_Result = TypeVar("_Result")
#: parts on their way to one reducer: the next is there when the one before is averaged
_WINDOW: Final = 3
_FLOAT: Final = "F32"


class Crunch(Protocol):
    """Runs what takes long, elsewhere than on the event loop."""

    def __call__(self, work: Callable[[], _Result]) -> Awaitable[_Result]: ...


class BadPart(Exception):
    """A reducer answered what is no average."""


class Butterfly:
    """This peer's side of a round. On the network's event loop."""

    def __init__(
        self,
        group: Group,
        me: PeerId,
        vector: torch.Tensor,
        *,
        network: Network,
        settings: Settings,
        crunch: Crunch,
    ) -> None:
        self.group = group
        #: local values, replaced by averages as they come
        self.average = vector.clone()
        #: places of those of whom something is missing
        self.failed: set[int] = set()
        self._place = group.places[me]
        self._me = group.members[self._place]
        self._network = network
        self._settings = settings
        self._crunch = crunch
        self._vector = vector
        shares = split_shares(len(vector), [member.bandwidth if member.reduces else 0.0 for member in group.members])
        self._parts = [split_parts(share, settings.part_length) for share in shares]
        self._own = self._parts[self._place]
        weights = {place: member.weight for place, member in enumerate(group.members) if member.sends}
        self._reduction = Reduction([len(part) for part in self._own], weights)
        loop = asyncio.get_running_loop()
        self._answers: list[asyncio.Future[Sendable]] = [loop.create_future() for _ in self._own]
        self._moved = asyncio.Event()
        self._publishing: set[asyncio.Task[None]] = set()
        self._goodbyes: set[asyncio.Task[None]] = set()
        #: who may still want something of us
        self._customers = {
            place
            for place, member in enumerate(group.members)
            if member.receives and place != self._place and self._own
        }
        self._is_idle = asyncio.Event()
        self._check_idle()

    async def run(self, timeout_s: float) -> None:
        """Average. Returns when all that can be had is in `average`; never raises for what others do."""
        reducers = [place for place, parts in enumerate(self._parts) if parts and place != self._place]
        work = [self._trade(place) for place in reducers if self._me.receives]
        tasks = [asyncio.ensure_future(each) for each in (*work, self._reduce())]
        try:
            await asyncio.wait(tasks, timeout=timeout_s)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, *self._publishing, return_exceptions=True)
            for answer in self._answers:
                if not answer.done():
                    answer.set_exception(PeerRefused("this peer gave up the round"))
                    answer.exception()  # seen: there may be nobody who waits for it

    async def linger(self, timeout_s: float) -> None:
        """Wait until everybody has what it needs of us, and knows that we need nothing more."""
        try:
            await asyncio.wait_for(self._is_idle.wait(), timeout_s)
        except asyncio.TimeoutError:
            _log.debug("%d members did not say goodbye", len(self._customers))
        await asyncio.gather(*self._goodbyes)

    # -- our values to others, their averages to us ------------------------------------------------------------------

    async def _trade(self, place: int) -> None:
        """Have one reducer average its share."""
        try:
            await self._exchange(place)
        except (NetworkError, BadPart, asyncio.TimeoutError) as exc:
            self.failed.add(place)
            _log.warning(
                "%s did not average its share, which keeps local values: %s",
                self.group.members[place].address,
                exc or "no answer in time",
            )
        except asyncio.CancelledError:
            self.failed.add(place)
            raise
        finally:
            self._say_goodbye(place)

    async def _exchange(self, place: int) -> None:
        loop = asyncio.get_running_loop()
        waiting = list(range(len(self._parts[place])))[::-1]
        pending: dict[asyncio.Task[None], int] = {}
        # It may itself wait that long for somebody else, and needs some time for itself.
        patience_s = 2 * self._settings.request_timeout_s
        try:
            while waiting or pending:
                while waiting and len(pending) < _WINDOW:
                    number = waiting.pop()
                    pending[loop.create_task(self._exchange_part(place, number))] = number
                done, _ = await asyncio.wait(pending, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
                if not done:
                    raise asyncio.TimeoutError
                for task in done:
                    del pending[task]
                    task.result()
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    async def _exchange_part(self, place: int, number: int) -> None:
        part = self._parts[place][number]
        settings = self._settings
        metadata = {p.GROUP: self.group.id.hex(), p.NUMBER: str(number)}
        values = {p.VALUES: self._vector[part.start : part.stop]} if self._me.sends else {}
        request = await self._crunch(lambda: encode(values, metadata, compression=settings.compression))
        address = self.group.members[place].address
        answer = await ask(self._network, address, p.PART, request, timeout_s=settings.round_timeout_s)
        average = await self._crunch(lambda: self._opened(answer, len(part)))
        if average is not None:
            self.average[part.start : part.stop] = average

    def _opened(self, answer: Payload, length: int) -> torch.Tensor | None:
        """Return the average of a part; None if nobody had delivered it."""
        try:
            message = decode(answer)
            missing = [int(place) for place in message.metadata.get(p.MISSING, "").split(",") if place]
            tensors = message.tensors() if message.specs else {}
            if message.specs and message.specs != {p.VALUES: TensorSpec(_FLOAT, (length,))}:
                raise BadPart(f"it answered {dict(message.specs)!s:.200} where {length} values belong")
        except (MalformedTensors, ValueError) as exc:
            raise BadPart(f"it answered what it should not: {exc}") from exc
        if not all(place in range(len(self.group.members)) for place in missing):
            raise BadPart("it misses members that there are not")
        if not all(map(is_finite, tensors.values())):
            raise BadPart("it answered NaN or infinite values")
        self.failed.update(missing)
        return tensors.get(p.VALUES)

    def _say_goodbye(self, place: int) -> None:
        """Tell a reducer that we need nothing more of it, so that it need not stay for us."""
        address = self.group.members[place].address
        leave = p.encode(p.Leave(self.group.id))

        async def say() -> None:
            try:
                await ask(self._network, address, p.LEAVE, leave, timeout_s=self._settings.request_timeout_s)
            except NetworkError as exc:
                _log.debug("%s did not hear our goodbye: %s", address, exc)

        _keep(self._goodbyes, say())

    # -- others' values to us, our averages to them ------------------------------------------------------------------

    async def _reduce(self) -> None:
        """Wait until our share is averaged, dropping those who let the others wait."""
        reduction, timeout_s = self._reduction, self._settings.request_timeout_s
        if self._me.sends:
            for number, part in enumerate(self._own):
                self._publish(reduction.add(self._place, number, self._vector[part.start : part.stop]))
        loop = asyncio.get_running_loop()
        oldest, since = reduction.oldest, loop.time()
        while not reduction.is_done:
            self._moved.clear()
            try:
                await asyncio.wait_for(self._moved.wait(), since + timeout_s - loop.time())
            except asyncio.TimeoutError:
                for place in reduction.lacking:
                    _log.warning("%s did not deliver its values in time", self.group.members[place].address)
                    self._drop(place)
            if reduction.oldest != oldest:
                oldest, since = reduction.oldest, loop.time()
        await asyncio.gather(*self._answers)

    async def on_part(self, caller: PeerId, number: int, message: Message) -> Sendable:
        """Answer a member that sends its values of a part of our share, or only wants the average."""
        place = self.group.places.get(caller)
        if place is None or not self.group.members[place].receives or number not in range(len(self._own)):
            raise PeerRefused("no member of this round, or no part of this share")
        if message.specs:
            await self._take(place, number, message)
        return await asyncio.shield(self._answers[number])

    async def _take(self, place: int, number: int, message: Message) -> None:
        expected = {p.VALUES: TensorSpec(_FLOAT, (len(self._own[number]),))}
        try:
            if message.specs != expected:
                raise PeerRefused(f"a part has {expected}; given: {dict(message.specs)!s:.200}")
            values = await self._crunch(lambda: _checked(message))
        except PeerRefused:
            self._fail(place)
            raise
        self._publish(self._reduction.add(place, number, values))

    def on_leave(self, caller: PeerId) -> None:
        """Somebody needs us no more; if it has not delivered all, it has given up."""
        place = self.group.places.get(caller)
        if place is not None:
            self._customers.discard(place)
            self._drop(place)
            self._check_idle()

    def _fail(self, place: int) -> None:
        self.failed.add(place)
        self._drop(place)

    def _drop(self, place: int) -> None:
        self._publish(self._reduction.drop(place))

    def _publish(self, closed: list[int]) -> None:
        for number in closed:
            _keep(self._publishing, self._publish_part(number))
        self._moved.set()

    async def _publish_part(self, number: int) -> None:
        part = self._own[number]
        mean, missing = self._reduction.mean(number)
        self.failed.update(missing)
        answer, average = await self._crunch(lambda: self._packed(mean, missing))
        if average is not None and self._me.receives:
            self.average[part.start : part.stop] = average
        if not self._answers[number].done():
            self._answers[number].set_result(answer)

    def _packed(self, mean: torch.Tensor | None, missing: tuple[int, ...]) -> tuple[Sendable, torch.Tensor | None]:
        """Return a mean as everybody gets it, and what they make of it: the same numbers for all, us too."""
        metadata = {p.MISSING: ",".join(map(str, missing))}
        if mean is not None and is_finite(mean):
            answer = encode({p.VALUES: mean}, metadata, compression=self._settings.compression)
            if self._settings.compression == "none":
                return answer, mean
            return answer, decode(answer.joined()).tensors()[p.VALUES]
        return encode({}, metadata), None

    def _check_idle(self) -> None:
        if not self._customers:
            self._is_idle.set()


def _keep(tasks: set[asyncio.Task[None]], work: Coroutine[Any, Any, None]) -> None:
    """Begin something, and keep hold of it until it is done."""
    task = asyncio.ensure_future(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


def _checked(message: Message) -> torch.Tensor:
    try:
        values = message.tensors()[p.VALUES]
    except MalformedTensors as exc:
        raise PeerRefused(str(exc)) from exc
    if not is_finite(values):
        raise PeerRefused("a part has NaN or infinite values")
    return values
