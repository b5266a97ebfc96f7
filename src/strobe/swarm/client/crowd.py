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
from threading import TIMEOUT_MAX
from typing import Final, TypeAlias, TypeVar

import torch

from strobe.errors import Error
from strobe.swarm.client.silence import Silence
from strobe.swarm.client.stub import BadReply, ExpertStub
from strobe.swarm.experts.directory import ExpertPlace
from strobe.swarm.experts.schema import SchemaMismatch
from strobe.swarm.net.network import NetworkError, Payload, PeerBusy, PeerRefused
from strobe.swarm.tensors import is_finite

_Answer = TypeVar("_Answer")
#: of a row of each input
Shapes: TypeAlias = tuple[tuple[int, ...], ...]
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
    """How many answers every row needs, how long to wait for them, and how much longer for the others; seconds.

    Times may be infinite.
    """

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
    """Asks experts for shares of a batch, and remembers which peers do not answer and which experts do not help."""

    def __init__(self) -> None:
        #: of peers that do not answer, by id
        self.silence = Silence()
        #: of experts that refuse, or are of no use, by place: others of the same peer may be good
        self.refusals = Silence()
        #: of experts that take other inputs, by place and shapes that were given: those may be the caller's mistake
        self.misfits = Silence()
        self.stats = CrowdStats()
        #: questions for descriptions that are under way: about whom, and since when
        self._introductions: dict[Future[None], tuple[list[ExpertStub], float]] = {}

    def is_left_out(self, place: ExpertPlace, shapes: Shapes = ()) -> bool:
        """Tell whether an expert is not asked now, for inputs whose rows have these shapes."""
        return (
            self.silence.is_silent(place.address.id)
            or self.refusals.is_silent(place)
            or self.misfits.is_silent((place, shapes))
        )

    def leave_out(self, stub: ExpertStub, shapes: Shapes) -> None:
        """Do without an expert for some time where such inputs are given: it takes, or gives, something else."""
        self.stats.reasons["unfit"] += 1
        self.misfits.failed((stub.place, shapes))

    def prepare(
        self, stubs: Sequence[ExpertStub], is_ready: Callable[[Collection[ExpertStub]], bool], patience: Patience
    ) -> None:
        """Ask those for their description who have not given it, each peer once; wait until there are enough.

        `is_ready` gets those who may still give it. Who is not waited for any longer may answer yet: it counts from
        then on. Until then only those wait for it, in later passes, who do not have enough without it.
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
            if not has_enough and is_ready({stub for question in waiting for stub in asked[question]}):
                has_enough = True
                deadline = min(deadline, time.monotonic() + patience.after_k_min_s)
            if (has_enough and not waiting & fresh) or (left_s := deadline - time.monotonic()) <= 0:
                break
            _, waiting = wait(waiting, min(left_s, TIMEOUT_MAX), FIRST_COMPLETED)
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
                if _is_refusal(exc):
                    for stub in stubs:
                        if not stub.has_info:
                            self.refusals.failed(stub.place)
            else:
                self._answered(stubs[0], started)

    def forward(
        self, shares: Sequence[Share], inputs: Sequence[torch.Tensor], num_places: int, patience: Patience
    ) -> tuple[list[torch.Tensor], torch.Tensor]:
        """Return the outputs as (B, K, …) with zeros where there is none, and where there is one as (B, K).

        All experts are of one kind. Without any answer there are no outputs.
        """
        num_rows = len(inputs[0])
        asked = {share.stub.begin_forward(_rows(inputs, share)): share for share in shares}
        answers = self._collect(
            asked,
            lambda share, payload: share.stub.finish_forward(payload, len(share.rows)),
            lambda share: _rows(inputs, share),
            num_rows,
            patience,
        )
        mask = torch.zeros(num_rows, num_places, dtype=torch.bool)
        outputs: list[torch.Tensor] = []
        for share, parts in answers.items():
            rows, places = share.rows, share.places
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
        asked = {share.stub.begin_backward(_rows(inputs, share), _places(grads, share)): share for share in shares}
        answers = self._collect(
            asked,
            lambda share, payload: share.stub.finish_backward(payload, len(share.rows)),
            lambda share: _rows(inputs, share) + _places(grads, share),
            num_rows,
            patience,
        )
        totals = [torch.zeros_like(tensor) for tensor in inputs if tensor.is_floating_point()]
        for share, parts in answers.items():
            for total, part in zip(totals, parts, strict=True):
                total.index_add_(0, share.rows.to(total.device), part.to(total.device))
        return totals, fewest(answers, num_rows)

    def _collect(
        self,
        asked: dict[Future[Payload], Share],
        finish: Callable[[Share, Payload], _Answer],
        sent: Callable[[Share], list[torch.Tensor]],
        num_rows: int,
        patience: Patience,
    ) -> dict[Share, _Answer]:
        """Return what was answered in time; the rest is given up. `sent` tells again what an expert was sent."""
        started = time.monotonic()
        deadline = started + patience.timeout_s
        waiting = set(asked)
        answers: dict[Share, _Answer] = {}
        has_enough = False
        self.stats.requests += len(asked)
        while waiting and (left_s := deadline - time.monotonic()) > 0:
            done, waiting = wait(waiting, min(left_s, TIMEOUT_MAX), FIRST_COMPLETED)
            for future in done:
                share = asked[future]
                try:
                    answers[share] = finish(share, future.result())
                except _FAILURES as exc:
                    self._failed(share.stub, exc)
                    # To refuse values that are not finite is right, and everybody does: that is not the expert's fault.
                    if _is_refusal(exc) and all(map(is_finite, sent(share))):
                        self.refusals.failed(share.stub.place)
                else:
                    self._answered(share.stub, started)
                    self.refusals.answered(share.stub.place)
            if has_enough or not waiting:
                continue
            if is_enough(answers, [asked[future] for future in waiting], num_rows, patience.k_min):
                has_enough = True
                deadline = min(deadline, time.monotonic() + patience.after_k_min_s)
        had_all_the_time = time.monotonic() >= started + patience.timeout_s
        for future in waiting:
            future.cancel()
            # Who was only slower than the others is not left out the next time.
            self._count(asked[future].stub, "late", is_silent=had_all_the_time)
        return answers

    def _answered(self, stub: ExpertStub, started: float) -> None:
        self.stats.answer_s += time.monotonic() - started
        self.silence.answered(stub.place.address.id)

    def _failed(self, stub: ExpertStub, why: BaseException) -> None:
        if isinstance(why, PeerRefused):  # it is there and says no: another expert of it may well say yes
            self._count(stub, "busy" if isinstance(why, PeerBusy) else "refused", is_silent=False)
        else:
            self._count(stub, type(why).__name__, is_silent=True)

    def _count(self, stub: ExpertStub, reason: str, *, is_silent: bool) -> None:
        self.stats.failures += 1
        self.stats.reasons[reason] += 1
        if is_silent:
            self.silence.failed(stub.place.address.id)


def _is_refusal(why: BaseException) -> bool:
    """Tell whether an expert would be asked in vain again, as one that is only busy is not."""
    return isinstance(why, PeerRefused) and not isinstance(why, PeerBusy)


def _rows(inputs: Sequence[torch.Tensor], share: Share) -> list[torch.Tensor]:
    return [tensor[share.rows.to(tensor.device)] for tensor in inputs]


def _places(grads: Sequence[torch.Tensor], share: Share) -> list[torch.Tensor]:
    return [grad[share.rows, share.places] for grad in grads]


def is_enough(answered: Iterable[Share], waiting: Iterable[Share], num_rows: int, k_min: int) -> bool:
    """Tell whether every row has as many of its shares answered as it needs, or no others to wait for."""
    is_served = _counts(answered, num_rows) >= k_min
    return bool((is_served | (_counts(waiting, num_rows) == 0)).all())


def fewest(shares: Iterable[Share], num_rows: int) -> int:
    """Return how many of these shares the row has a part in that has the fewest."""
    return int(_counts(shares, num_rows).min()) if num_rows else 0


def _counts(shares: Iterable[Share], num_rows: int) -> torch.Tensor:
    """Return how many of these shares each row has a part in."""
    counts = torch.zeros(num_rows, dtype=torch.int64)
    for share in shares:
        counts[share.rows] += 1
    return counts
