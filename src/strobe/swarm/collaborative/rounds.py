"""Averaging for an optimizer: one round per epoch and purpose, among peers that are in the same epoch.

Groups are told apart by the epoch: who is late does not mix its old gradients into the new ones, it finds nobody. A
round that does not come about is counted and told, and raises nothing into the training.
"""

from __future__ import annotations

import logging
import math
import time
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import torch

from strobe.errors import Error, UsageError
from strobe.swarm.averaging import DecentralizedAverager, Round
from strobe.swarm.averaging.protocol import MAX_BANDWIDTH, MAX_MEMBERS
from strobe.swarm.dht import DHT
from strobe.swarm.net.network import PeerId
from strobe.swarm.tensors import is_finite

Purpose: TypeAlias = Literal["gradients", "state", "statistics"]
#: what auxiliary peers say to the group: nobody expects them where states are averaged
AUXILIARY: Final = "auxiliary"
#: what fits, with purpose and epoch, into the names of groups
_MAX_RUN_ID: Final = 200
#: rounds that others are still busy with
MOST_CLOSING: Final = 16
_log = logging.getLogger("strobe.swarm.collaborative")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOptions:
    """How peers average; times in seconds."""

    matchmaking_s: float = 5.0
    averaging_timeout_s: float = 30.0
    request_timeout_s: float = 5.0
    #: the most that average together; without a number, all who are there
    target_group_size: int | None = None
    bandwidth: float = 1.0
    auxiliary: bool = False

    def __post_init__(self) -> None:
        # Here, at the beginning of a training: a round that is refused later would be one more that failed.
        for name in ("matchmaking_s", "averaging_timeout_s", "request_timeout_s", "bandwidth"):
            if not 0 < getattr(self, name) < math.inf:
                raise UsageError(f"{name} is {getattr(self, name)}; it must be a number above 0")
        if self.bandwidth > MAX_BANDWIDTH:
            raise UsageError(f"bandwidth is {self.bandwidth}; at most {MAX_BANDWIDTH:g}, for it is a ratio to others'")
        if self.target_group_size is not None and not 2 <= self.target_group_size <= MAX_MEMBERS:
            raise UsageError(f"target_group_size is {self.target_group_size}; it is None, or 2 to {MAX_MEMBERS}")


def trainers_of(round_: Round) -> frozenset[PeerId]:
    """Return the members that have values of their own."""
    return frozenset(member for member, word in round_.gathered.items() if word != AUXILIARY)


def present_in(round_: Round) -> frozenset[PeerId]:
    """Return those of them of whom nothing was missing: who comes to the next round too."""
    return trainers_of(round_) - round_.failed


class Rounds:
    """The rounds of one peer."""

    def __init__(self, dht: DHT, run_id: str, options: RoundOptions) -> None:
        if not 1 <= len(run_id) <= _MAX_RUN_ID:
            raise UsageError(f"run_id {run_id[:40]!r} has {len(run_id)} characters; 1 to {_MAX_RUN_ID} are possible")
        self._dht = dht
        self._run_id = run_id
        self._options = options
        #: of the last round of each purpose: those who are slower than we are still need it
        self._averagers: dict[Purpose, DecentralizedAverager] = {}
        # Closing waits for those who still fetch something, or have died while they did. The next round must not,
        # unless there are too many: each holds what it averaged.
        self._closing = ThreadPoolExecutor(MOST_CLOSING, "strobe-collaborative")
        self._being_closed: deque[Future[None]] = deque()
        self.num_ok: Counter[Purpose] = Counter()
        self.num_failed: Counter[Purpose] = Counter()
        self.matchmaking_s = 0.0
        self.averaging_s = 0.0

    def average(
        self,
        purpose: Purpose,
        epoch: int,
        tensors: Sequence[torch.Tensor],
        *,
        weight: float,
        num_peers: int,
        compression: str,
    ) -> Round | None:
        """Replace the tensors by the mean of a group; None, with a warning, if there was none or it is of no use."""
        began = time.monotonic()
        round_, why = None, f"no group was found within {self._options.matchmaking_s:g} s"
        try:
            averager = self._next_averager(purpose, epoch, tensors, num_peers, compression)
            try:
                round_ = averager.step(weight=weight, gather=AUXILIARY if self._options.auxiliary else None)
            finally:
                averager.retire()  # it stays for those who are slower, the tensors need not: they are of a model's size
        except Error as exc:  # such as a DHT that was shut down, or values that cannot be compressed
            why = str(exc)
        self.averaging_s += round_.seconds if round_ is not None else 0.0
        self.matchmaking_s += round_.matchmaking_seconds if round_ is not None else time.monotonic() - began
        if round_ is not None and not all(map(is_finite, tensors)):
            round_, why = None, "the average has NaN or infinite values"
        if round_ is not None and not self._is_of_use(round_):
            round_, why = None, "values of all the others are missing"
        if round_ is None:
            self.num_failed[purpose] += 1
            _log.warning("%s: the %s of epoch %d were not averaged: %s", self._run_id, purpose, epoch, why)
            return None
        self.num_ok[purpose] += 1
        if round_.failed:
            _log.warning(
                "%s: the mean of the %s of epoch %d lacks something of %d of %d peers",
                self._run_id,
                purpose,
                epoch,
                len(round_.failed),
                round_.group_size,
            )
        return round_

    def _is_of_use(self, round_: Round) -> bool:
        """Tell whether anybody else's values are in the mean; none are missed where nobody else has any."""
        others = trainers_of(round_) - {self._dht.peer_id}
        return not others <= round_.failed or (not others and not self._options.auxiliary)

    def close(self) -> None:
        """Take part in nothing any more."""
        for averager in self._averagers.values():
            averager.shutdown()
        self._averagers.clear()
        self._closing.shutdown()

    def _close_later(self, averager: DecentralizedAverager) -> None:
        if len(self._being_closed) == MOST_CLOSING:
            wait([self._being_closed.popleft()])
        self._being_closed.append(self._closing.submit(averager.shutdown))

    def _next_averager(
        self, purpose: Purpose, epoch: int, tensors: Sequence[torch.Tensor], num_peers: int, compression: str
    ) -> DecentralizedAverager:
        """Return the averager of an epoch, which takes the place of the last one's."""
        options = self._options
        prefix = f"{self._run_id}.{purpose}.{epoch}"
        if (last := self._averagers.pop(purpose, None)) is not None:
            if last.prefix == prefix:  # another attempt: a peer has one averager of a name at a time
                last.shutdown()
            else:
                self._close_later(last)
        # As soon as all who are known to be in this epoch are there, nobody else is waited for.
        size = max(min(num_peers, options.target_group_size or MAX_MEMBERS), 2)
        averager = self._averagers[purpose] = DecentralizedAverager(
            tensors,
            self._dht,
            prefix=prefix,
            target_group_size=size,
            matchmaking_s=options.matchmaking_s,
            round_timeout_s=options.averaging_timeout_s,
            request_timeout_s=options.request_timeout_s,
            compression=compression,
            bandwidth=options.bandwidth,
            auxiliary=options.auxiliary,
        )
        return averager
