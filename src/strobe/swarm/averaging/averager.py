"""`DecentralizedAverager`: tensors of this program, averaged with those of other peers whenever `step` is called.

    with DHT(initial_peers) as dht, DecentralizedAverager(tensors, dht, prefix="run-7") as averager:
        round_ = averager.step(weight=num_samples)

Lives on the event loop of the DHT's peer and has one thread for arithmetic; no process of its own. What other peers do
wrong never raises here: it is told by the Round, or there is none.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import hashlib
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal, TypeVar, overload

import torch

from strobe.errors import Error, UsageError
from strobe.swarm.averaging.engine import Engine
from strobe.swarm.averaging.figures import Tally
from strobe.swarm.averaging.group import Member
from strobe.swarm.averaging.protocol import MAX_GATHERED_BYTES, MAX_WEIGHT, SCHEMA_BYTES
from strobe.swarm.averaging.round import Round
from strobe.swarm.averaging.settings import Settings
from strobe.swarm.averaging.vector import FlatTensors
from strobe.swarm.dht import DHT, DhtStopped, Node
from strobe.swarm.dht.reply import Reply
from strobe.swarm.dht.value import pack
from strobe.swarm.tensors import NotFinite, is_finite

_Result = TypeVar("_Result")


class DecentralizedAverager:
    """Averages `tensors` in place with the averagers of the same prefix, tensor shapes, part size and compression.

    A group begins when it has `target_group_size` members (without a number: never before its time is over), or after
    `matchmaking_s` with at least `min_group_size`. `request_timeout_s` is how long a peer may take for its next word or
    part, `round_timeout_s` how long the averaging may take in all. Each reduces a share of the values in proportion to
    its `bandwidth`; peers in client mode reduce nothing. An `auxiliary` peer only reduces: it has values of nobody, and
    its tensors stay as they are. With a target size, peers look for each other under several keys, as many as groups
    should come about; who knows better gives the bits of the first one as `group_bits`.
    """

    def __init__(
        self,
        tensors: Sequence[torch.Tensor],
        dht: DHT,
        *,
        prefix: str,
        target_group_size: int | None = None,
        min_group_size: int = 2,
        matchmaking_s: float = 5.0,
        round_timeout_s: float = 30.0,
        request_timeout_s: float = 5.0,
        compression: str = "none",
        part_bytes: int = 2**19,
        bandwidth: float = 1.0,
        auxiliary: bool = False,
        group_bits: str | None = None,
    ) -> None:
        if auxiliary and dht.client_mode:
            raise UsageError("an auxiliary peer reduces for others, which one in client mode cannot")
        self.dht = dht
        self._settings = Settings(
            prefix=prefix,
            target_group_size=target_group_size,
            min_group_size=min_group_size,
            matchmaking_s=matchmaking_s,
            round_timeout_s=round_timeout_s,
            request_timeout_s=request_timeout_s,
            compression=compression,
            part_bytes=part_bytes,
            bandwidth=bandwidth,
            role="auxiliary" if auxiliary else "client" if dht.client_mode else "full",
            group_bits=group_bits,
        )
        self._flat = FlatTensors(list(tensors))
        self._tally = Tally()
        self._pool = ThreadPoolExecutor(1, "strobe-averaging")
        self._turn = threading.Lock()
        self._step: Reply[Round | None] | None = None
        self._is_retired = self._is_shut_down = False
        try:
            dht.run_coroutine(_node_of)
        except DhtStopped:
            raise
        except Error as exc:
            raise UsageError("an averager needs a DHT in this process; make it without process=True") from exc
        self._engine = dht.run_coroutine(self._attach)

    async def _attach(self, node: Node) -> Engine:
        settings = self._settings
        alike = f"{settings.part_length} {settings.compression} ".encode() + self._flat.digest()
        schema = hashlib.sha256(alike).digest()[:SCHEMA_BYTES]
        return Engine(node, settings, schema, crunch=self._crunch, rng=random.Random())

    @property
    def prefix(self) -> str:
        return self._settings.prefix

    @property
    def target_group_size(self) -> int | None:
        """With how many members a group begins at once; what is set counts from the next step on."""
        return self._settings.target_group_size

    @target_group_size.setter
    def target_group_size(self, size: int | None) -> None:
        self._settings = dataclasses.replace(self._settings, target_group_size=size)
        self._engine.configure(self._settings)

    @contextmanager
    def tensors(self) -> Iterator[tuple[torch.Tensor, ...]]:
        """Give the tensors while no average is written into them: `with averager.tensors() as tensors: ...`."""
        with self._flat.held() as tensors:
            yield tensors

    def figures(self) -> dict[str, float]:
        """Return how the averaging goes, by names that a run can log (see `strobe.swarm.telemetry`)."""
        return self._tally.read()

    # -- averaging ---------------------------------------------------------------------------------------------------

    @overload
    def step(
        self, *, weight: float = ..., gather: Any = ..., timeout_s: float | None = ..., wait: Literal[True] = ...
    ) -> Round | None: ...
    @overload
    def step(
        self, *, weight: float = ..., gather: Any = ..., timeout_s: float | None = ..., wait: Literal[False]
    ) -> Reply[Round | None]: ...
    def step(
        self, *, weight: float = 1.0, gather: Any = None, timeout_s: float | None = None, wait: bool = True
    ) -> Round | Reply[Round | None] | None:
        """Find a group and replace the tensors by the weighted mean of its members'; None if there was no group.

        The values that count are those at the time of the call; what is changed until the mean comes stays, as a
        difference to it. With weight 0 a peer takes the mean without having a part in it. `gather` is anything that
        msgpack carries, for all members to know. `timeout_s` is for everything together.

        With `wait=False` the result comes by a future, which can be awaited too; cancelling it leaves the group. One
        step at a time. Raises NotFinite if own values are NaN or infinite: they would spoil the others'.
        """
        if not 0 <= weight <= MAX_WEIGHT:
            raise UsageError(f"weight is {weight}; it must be a number from 0 to {MAX_WEIGHT:g}")
        if timeout_s is not None and not timeout_s > 0:
            raise UsageError(f"timeout_s is {timeout_s}; it must be above 0, or None")
        gathered = pack(gather)
        if len(gathered) > MAX_GATHERED_BYTES:
            raise UsageError(f"gather has {len(gathered)} bytes, at most {MAX_GATHERED_BYTES}; store where to find it")
        if self._is_retired or self._is_shut_down:
            raise UsageError("this averager was shut down; make a new one")
        me = Member(
            address=self.dht.address,
            weight=weight,
            bandwidth=self._settings.bandwidth,
            role=self._settings.role,
            gathered=gathered,
        )
        reply = self._begin(me, timeout_s)
        if not wait:
            return reply
        try:
            return reply.result()
        except BaseException:
            reply.cancel()  # such as KeyboardInterrupt: nobody waits for it any more
            raise

    def _begin(self, me: Member, timeout_s: float | None) -> Reply[Round | None]:
        self._flat.check_not_held()
        with self._turn:
            if self._step is not None and not self._step.done():
                raise UsageError("a step of this averager is under way; wait for it, or cancel it")
            vector = self._flat.read()
            if me.sends and not is_finite(vector):
                raise NotFinite("tensors to be averaged have NaN or infinite values; mend them, or step with weight=0")
            self._step = self.dht.run_coroutine(lambda _: self._average(me, vector, timeout_s), return_future=True)
            return self._step

    async def _average(self, me: Member, vector: torch.Tensor, timeout_s: float | None) -> Round | None:
        averaged = await self._engine.average(me, vector, timeout_s)
        if averaged is None:
            self._tally.missed()
            return None
        if me.receives:
            await self._crunch(lambda: self._flat.write(vector, averaged.values))
        self._tally.averaged(averaged.round, vector.nbytes)
        return averaged.round

    async def _crunch(self, work: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    # -- the end -----------------------------------------------------------------------------------------------------

    def retire(self) -> None:
        """Take no more steps and let go of the tensors; others get what they need of the last until `shutdown`."""
        self._is_retired = True
        self._flat.release()

    def shutdown(self) -> None:
        """Give up what is under way, let others fetch what they need of us, and answer no more. The DHT goes on."""
        if self._is_shut_down:
            return
        self._flat.check_not_held()
        self._is_shut_down = True
        if self._step is not None:
            self._step.cancel()
        with contextlib.suppress(DhtStopped):  # it may have been shut down first
            self.dht.run_coroutine(self._detach)
        self._pool.shutdown()

    async def _detach(self, node: Node) -> None:
        await self._engine.detach()

    def __enter__(self) -> DecentralizedAverager:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()


async def _node_of(node: Node) -> Node:
    return node
