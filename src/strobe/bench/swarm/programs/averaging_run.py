"""The averaging benchmark itself, the same for every subject: peers average again and again, each in a thread.

As hivemind's script does it, threads are started one after the other; the clock begins with the last one, and ends with
the last round. But the peers are made before, in the main thread: its averagers cannot be made in any other, which is
where its script makes them. In the end it is told how far peers still are from each other. Standard library and torch
only.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import torch

from .talk import Talk


class Averager(Protocol):
    """One peer with its tensors."""

    def step(self, timeout_s: float) -> bool:
        """Average once; return whether that went well."""

    def values(self) -> torch.Tensor:
        """Return the first of its tensors."""


class Field(Protocol):
    """Peers of one implementation."""

    def join(self, index: int, tensors: Sequence[torch.Tensor]) -> Averager:
        """Make a peer."""


class _Step(NamedTuple):
    peer: int
    number: int
    is_good: bool
    seconds: float
    ended: float


def sample_tensors(hid_size: int, num_layers: int) -> list[torch.Tensor]:
    """Return tensors of the sizes in a transformer."""
    h = hid_size
    tensors: list[torch.Tensor] = []
    for _ in range(num_layers):
        tensors += [torch.randn(h, 3 * h), torch.randn(3 * h), torch.randn(3 * h)]
        tensors += [torch.randn(h, h), torch.ones(h), torch.zeros(h)]
        tensors += [torch.randn(h, 4 * h), torch.randn(4 * h), torch.ones(4 * h)]
        tensors += [torch.randn(2, h, h, 2), torch.randn(h), torch.randn(h), torch.randn(h)]
    return tensors


def group_bits(job: dict[str, Any], index: int) -> str:
    """Return the bits of the key under which a peer looks first: as many keys as groups, the same number under each."""
    width = round(math.log2(job["num_peers"] / job["target_group_size"]))
    return format(index % 2**width, f"0{width}b") if width > 0 else ""


def run(talk: Talk, field: Field) -> None:
    """Do the job that `talk` was given."""
    job = talk.job
    num_peers, num_rounds = int(job["num_peers"]), int(job["num_rounds"])
    tensors = [sample_tensors(int(job["hid_size"]), int(job["num_layers"])) for _ in range(num_peers)]
    before = _spread([mine[0] for mine in tensors])
    with talk.phase("create"):
        averagers = [field.join(index, mine) for index, mine in enumerate(tensors)]
    total = num_peers * num_rounds
    steps: list[_Step] = []
    with talk.phase("work", total) as phase:
        outcomes: queue.SimpleQueue[_Step | BaseException] = queue.SimpleQueue()
        began = time.perf_counter()
        for index, averager in enumerate(averagers):
            arguments = (averager, index, num_rounds, float(job["round_timeout"]), outcomes.put)
            threading.Thread(target=_average, args=arguments, daemon=True).start()
            time.sleep(float(job["spawn_dtime"]))
        spawned = time.perf_counter()
        while len(steps) < total:
            outcome = outcomes.get()
            if isinstance(outcome, BaseException):
                raise outcome
            steps.append(outcome)
            phase.report(len(steps), peer=outcome.peer, step=outcome.number, is_good=float(outcome.is_good))
        ended = max(step.ended for step in steps)
        phase.seconds = ended - spawned
        phase.figures = {
            "took": ended - began,
            "good": sum(step.is_good for step in steps),
            "count": total,
            "step_s": sum(step.seconds for step in steps) / total,
            "spread": _spread([averager.values() for averager in averagers]) / before,
        }
    talk.finish()


def _average(
    averager: Averager, index: int, num_rounds: int, timeout_s: float, tell: Callable[[_Step | BaseException], None]
) -> None:
    try:
        for number in range(num_rounds):
            began = time.perf_counter()
            is_good = averager.step(timeout_s)
            ended = time.perf_counter()
            tell(_Step(index, number, is_good, ended - began, ended))
    except BaseException as exc:  # noqa: BLE001  # told to the one who waits, who raises it
        tell(exc)


def _spread(tensors: Sequence[torch.Tensor]) -> float:
    """Return how far peers are from each other: the mean variance of a value."""
    return float(torch.stack(list(tensors)).var(0, unbiased=False).mean())
