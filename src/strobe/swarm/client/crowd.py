"""Many experts asked at once: rows go to the experts chosen for them, one request per expert, and come back in place.

Waits until every row has enough answers, then a little longer for the others, never beyond the time-out. Whoever does
not answer, refuses or answers nonsense is left out: a mask says which answers there are. Shapes: B rows, K places for
experts of a row.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, field
from typing import Final, TypeVar

import torch

from strobe.errors import Error
from strobe.swarm.client.silence import Silence
from strobe.swarm.client.stub import BadReply, ExpertStub
from strobe.swarm.experts.schema import SchemaMismatch
from strobe.swarm.net.network import NetworkError, Payload, PeerBusy, PeerRefused

_Answer = TypeVar("_Answer")
_FAILURES: Final = (NetworkError, BadReply, SchemaMismatch, CancelledError)


class TooFewExperts(Error):
    """Some rows got fewer answers than they need."""


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """The rows that one expert works on, and at which of their places."""

    stub: ExpertStub
    rows: torch.Tensor
    places: torch.Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How many answers every row needs, how long to wait for them, and how much longer for the others; seconds."""

    k_min: int = 1
    timeout_s: float = 30.0
    after_k_min_s: float = math.inf


@dataclass(slots=True)
class CrowdStats:
    """What became of the requests so far."""

    requests: int = 0
    failures: int = 0
    answer_s: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)

    def read(self) -> dict[str, float]:
        """Return the figures by names that a run can log."""
        answered = self.requests - self.failures
        return {
            "requests": self.requests,
            "failures": self.failures,
            "latency_ms": self.answer_s / answered * 1e3 if answered else 0.0,
        }


class Crowd:
    """Asks experts for shares of a batch, and remembers who does not answer."""

    def __init__(self, silence: Silence) -> None:
        self.silence = silence
        self.stats = CrowdStats()
        #: questions for descriptions that are under way: about whom, and since when
        self._introductions: dict[Future[None], tuple[list[ExpertStub], float]] = {}

    def prepare(self, stubs: Sequence[ExpertStub], is_enough: Callable[[], bool], patience: Patience) -> None:
        """Ask those for their description who have not given it, each peer once; wait until there are enough.

        Who is not waited for any longer may still answer: it counts from then on. Until then only those wait for it,
        in later passes, who do not have enough without it.
        """
        self._settle()
        started = time.monotonic()
        asked: dict[Future[None], list[ExpertStub]] = {}
        for stub in stubs:
            if not stub.has_info:
                asked.setdefault(stub.introduce(), []).append(stub)
        fresh = asked.keys() - self._introductions.keys()
        self._introductions.update((question, (asked[question], started)) for question in fresh)
        self.stats.requests += len(fresh)
        waiting = set(asked)
        end = deadline = started + patience.timeout_s
        has_enough = False
        while waiting:
            if not has_enough and is_enough():
                has_enough = True
                deadline = min(deadline, time.monotonic() + patience.after_k_min_s)
            if (has_enough and not waiting & fresh) or (left_s := deadline - time.monotonic()) <= 0:
                break
            _, waiting = wait(waiting, left_s, FIRST_COMPLETED)
        self._settle()
        if time.monotonic() >= end:
            for question in waiting:  # they had all the time
                self.silence.failed(asked[question][0].place.address.id)

    def _settle(self) -> None:
        """Take note of what became of questions for descriptions, also of those that nobody waited for."""
        for question in [question for question in self._introductions if question.done()]:
            stubs, started = self._introductions.pop(question)
            try:
                question.result()
                if not all(stub.has_info for stub in stubs):
                    raise PeerRefused("experts that were declared are not there")
            except _FAILURES as exc:
                self._failed(stubs[0], exc)
            else:
                self._answered(stubs[0], started)

    def forward(
        self, shares: Sequence[Share], inputs: Sequence[torch.Tensor], num_places: int, patience: Patience
    ) -> tuple[list[torch.Tensor], torch.Tensor]:
        """Return the outputs as (B, K, …) with zeros where there is none, and where there is one as (B, K).

        All experts are of one kind. Without any answer there are no outputs.
        """
        num_rows = len(inputs[0])
        futures = [share.stub.begin_forward(_rows(inputs, share)) for share in shares]
        answers = self._collect(
            [share.stub for share in shares],
            futures,
            lambda number, payload: shares[number].stub.finish_forward(payload, len(shares[number].rows)),
            lambda answered: fewest((shares[number] for number in answered), num_rows) >= patience.k_min,
            patience,
        )
        mask = torch.zeros(num_rows, num_places, dtype=torch.bool)
        outputs: list[torch.Tensor] = []
        for number, parts in answers.items():
            rows, places = shares[number].rows, shares[number].places
            if not outputs:
                outputs = [torch.zeros(num_rows, num_places, *part.shape[1:], dtype=part.dtype) for part in parts]
            mask[rows, places] = True
            for output, part in zip(outputs, parts, strict=True):
                output[rows, places] = part
        device = inputs[0].device
        return [output.to(device) for output in outputs], mask.to(device)

    def backward(
        self, shares: Sequence[Share], inputs: Sequence[torch.Tensor], grads: Sequence[torch.Tensor], patience: Patience
    ) -> tuple[list[torch.Tensor], int]:
        """Return the gradients of the floating-point inputs, and how many experts the row with the fewest has."""
        num_rows = len(inputs[0])
        futures = [
            share.stub.begin_backward(_rows(inputs, share), [grad[share.rows, share.places] for grad in grads])
            for share in shares
        ]
        answers = self._collect(
            [share.stub for share in shares],
            futures,
            lambda number, payload: shares[number].stub.finish_backward(payload, len(shares[number].rows)),
            lambda answered: fewest((shares[number] for number in answered), num_rows) >= patience.k_min,
            patience,
        )
        totals = [torch.zeros_like(tensor) for tensor in inputs if tensor.is_floating_point()]
        for number, parts in answers.items():
            for total, part in zip(totals, parts, strict=True):
                total.index_add_(0, shares[number].rows.to(total.device), part.to(total.device))
        return totals, fewest((shares[number] for number in answers), num_rows)

    def _collect(
        self,
        stubs: Sequence[ExpertStub],
        futures: Sequence[Future[Payload]],
        finish: Callable[[int, Payload], _Answer],
        is_enough: Callable[[Collection[int]], bool],
        patience: Patience,
    ) -> dict[int, _Answer]:
        """Return what was answered in time, by the number of the stub; the rest is given up."""
        started = time.monotonic()
        deadline = started + patience.timeout_s
        numbers = {future: number for number, future in enumerate(futures)}
        waiting = set(futures)
        answers: dict[int, _Answer] = {}
        has_enough = False
        self.stats.requests += len(futures)
        while waiting and (left_s := deadline - time.monotonic()) > 0:
            done, waiting = wait(waiting, left_s, FIRST_COMPLETED)
            for future in done:
                number = numbers[future]
                try:
                    answers[number] = finish(number, future.result())
                except _FAILURES as exc:
                    self._failed(stubs[number], exc)
                else:
                    self._answered(stubs[number], started)
            if waiting and not has_enough and is_enough(answers):
                has_enough = True
                deadline = min(deadline, time.monotonic() + patience.after_k_min_s)
        had_all_the_time = time.monotonic() >= started + patience.timeout_s
        for future in waiting:
            future.cancel()
            # Who was only slower than the others is not left out the next time.
            self._count(stubs[numbers[future]], "late", is_silent=had_all_the_time)
        return answers

    def _answered(self, stub: ExpertStub, started: float) -> None:
        self.stats.answer_s += time.monotonic() - started
        self.silence.answered(stub.place.address.id)

    def _failed(self, stub: ExpertStub, why: BaseException) -> None:
        if isinstance(why, PeerRefused):  # it is there and says no: another request may well succeed
            self._count(stub, "busy" if isinstance(why, PeerBusy) else "refused", is_silent=False)
        else:
            self._count(stub, type(why).__name__, is_silent=True)

    def _count(self, stub: ExpertStub, reason: str, *, is_silent: bool) -> None:
        self.stats.failures += 1
        self.stats.reasons[reason] += 1
        if is_silent:
            self.silence.failed(stub.place.address.id)


def _rows(inputs: Sequence[torch.Tensor], share: Share) -> list[torch.Tensor]:
    return [tensor[share.rows.to(tensor.device)] for tensor in inputs]


def fewest(shares: Iterable[Share], num_rows: int) -> int:
    """Return how many of these shares the row has a part in that has the fewest."""
    counts = torch.zeros(num_rows, dtype=torch.int64)
    for share in shares:
        counts[share.rows] += 1
    return int(counts.min()) if num_rows else 0
