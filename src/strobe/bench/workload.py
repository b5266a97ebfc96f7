"""The seam between the harness, which owns time, and a workload, which owns a model and its inputs.

The harness knows nothing of tensors: it calls `setup`, `compile` and then `step` as often as it likes, asks for the
`work` of a step and lets the workload judge its own output against the reference. A workload never looks at a clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from strobe.errors import Error


class NotHere(Error):
    """This machine or device lacks what a workload needs: its row is left out with the message, which is no failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one step does, counted from shapes.

    `flops` are those of matrix products and convolutions (2 per multiply-add) that the implementation really computes;
    `bytes` is the traffic that it cannot avoid with weights stored as it stores them: weights and inputs once each
    (training: weights read twice and written, the optimizer's state read and written).
    """

    examples: float
    flops: float
    bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Correctness:
    """How far an output is from its reference, in units of the reference's own spread."""

    is_correct: bool
    #: root mean square of the difference over the spread; what the tolerance bounds
    error: float
    #: greatest difference over the spread, for the reader
    max_error: float
    tolerance: float
    #: what it was compared with, such as "OOTB float64"
    reference: str


class Workload(Protocol):
    """One model in one implementation, mode and configuration.

    One whose inputs are not alike, such as texts of any length, also has a number `turn`: steps after which their work
    comes again. It is then measured by whole turns; without, the middle step stands for all.
    """

    def setup(self, batch_size: int, seed: int, device: str, threads: int) -> None:
        """Build weights and a ring of inputs, both from the seed."""

    def compile(self) -> None:
        """Compile, quantise or freeze; nothing for OOTB. Measured apart."""

    def step(self, index: int) -> Any:
        """Do one measured iteration on input `index` of the ring; returns the output, or the loss when training."""

    def work(self) -> Work:
        """Describe one step, on average over the ring."""

    def reference(self, index: int) -> Any:
        """Compute what `step(index)` ought to give: OOTB, same weights and input, in a precision beyond doubt."""

    def check(self, output: Any, reference: Any) -> Correctness:
        """Judge an output of `step` by the reference of the same index; asked when everything is measured."""
