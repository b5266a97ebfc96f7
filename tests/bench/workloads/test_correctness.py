"""What counts as right: small beside the differences between examples, never NaN."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from strobe.bench.workloads import ootb
from strobe.bench.workloads.correctness import compare_losses, compare_outputs
from strobe.bench.workloads.ootb import OotbInference
from strobe.bench.workloads.task import Batch, Task
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import set_up

pytestmark = pytest.mark.frameworks


def test_an_error_is_measured_by_the_spread_between_examples() -> None:
    # All outputs are near 100; between examples they differ by 0.01.
    reference = 100 + 0.01 * torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
    verdict = compare_outputs(reference + 0.001, reference, 0.05, "OOTB")
    assert verdict.error == pytest.approx(0.1)
    assert not verdict.is_correct
    assert compare_outputs(reference + 0.0001, reference, 0.05, "OOTB").is_correct


def test_a_constant_answer_is_wrong_however_close() -> None:
    torch.manual_seed(0)
    reference = 100 + 0.01 * torch.randn(64, 5)
    constant = reference.mean(0).expand_as(reference)
    assert compare_outputs(constant, reference, 0.3, "OOTB").error == pytest.approx(1.0)


def test_one_example_is_measured_by_its_own_values() -> None:
    reference = torch.tensor([[1.0, -1.0]])
    assert compare_outputs(reference + 0.1, reference, 1, "OOTB").error == pytest.approx(0.1)


class _Coarse(OotbInference):
    """Answers as a network in few bits does: with an error of its own for each example."""

    spread = 0.0

    def answer(self, batch: Batch) -> Any:
        output = super().answer(batch)
        seed = int(1e6 * output.double().abs().sum())
        return output + 0.1 * self.spread * torch.randn(output.shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("task", [tiny.WIDE_REGNET, tiny.WIDE_DLRM], ids=["regnet", "dlrm"])
def test_how_much_a_row_errs_does_not_depend_on_its_batch(task: Task) -> None:
    """Of one example or two, both the error and how much examples differ would be luck."""
    errors = []
    for batch_size in (1, 2, 7, 64):
        workload = _Coarse(task, tolerance=0.15)
        set_up(workload, batch_size)
        reference = workload.reference(0)
        expected = torch.cat([right for _, right in reference])
        assert 64 <= len(expected) < 64 + batch_size
        workload.spread = float((expected - expected.mean(0)).square().mean().sqrt())
        verdict = workload.check(workload.step(0), reference)
        assert verdict.is_correct, (batch_size, verdict)
        errors.append(verdict.error)
    assert errors == pytest.approx([0.1] * len(errors), rel=0.3)


def test_of_a_model_that_is_too_large_for_many_fewer_examples_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ootb, "_REFERENCE_FLOPS", 1.0)
    workload = OotbInference(tiny.WIDE_REGNET)
    set_up(workload, batch_size=3)
    reference = workload.reference(0)
    assert (
        sum(len(right) for _, right in reference) == 6
    )  # two batches, since of four examples at least the spread is asked for
    assert workload.check(workload.step(0), reference).is_correct


def test_texts_are_judged_with_others_of_their_length() -> None:
    """Those of other lengths are not even computed: they have no mean in common."""
    for batch_size in (1, 4):
        workload = _Coarse(tiny.XLMR_VARIED)
        set_up(workload, batch_size)
        assert len({batch.inputs[0].shape for batch in workload.ring}) > 1
        reference = workload.reference(0)
        assert {batch.inputs[0].shape for batch, _ in reference} == {workload.batch(0).inputs[0].shape}
        assert sum(len(right) for _, right in reference) > 16
        assert workload.check(workload.step(0), reference).is_correct
        workload.spread = 1.0
        assert not workload.check(workload.step(0), reference).is_correct


def test_one_impression_can_be_judged() -> None:
    workload = OotbInference(tiny.WIDE_DLRM)
    set_up(workload, batch_size=1)
    verdict = workload.check(workload.step(0), workload.reference(0))
    assert verdict.is_correct, verdict


def test_the_greatest_error_is_told_beside() -> None:
    reference = torch.tensor([[1.0, 1.0], [-1.0, -1.0]])
    output = reference + torch.tensor([[0.4, 0.0], [0.0, 0.0]])
    verdict = compare_outputs(output, reference, 1, "OOTB")
    assert verdict.error == pytest.approx(0.2)
    assert verdict.max_error == pytest.approx(0.4)


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_what_is_not_finite_is_wrong(wrong: float) -> None:
    reference = torch.tensor([[1.0], [-1.0]])
    assert not compare_outputs(torch.tensor([[1.0], [wrong]]), reference, 1e9, "OOTB").is_correct


def test_a_reference_without_spread_proves_nothing() -> None:
    assert not compare_outputs(torch.ones(3, 2), torch.ones(3, 2), 1.0, "OOTB").is_correct


def test_a_loss_is_measured_by_how_losses_move() -> None:
    reference = torch.tensor([7.0, 6.9, 6.8])
    assert not compare_losses(torch.tensor(7.0), reference, 1e-2, "OOTB").is_correct
    assert compare_losses(torch.tensor(6.8), reference, 1e-2, "OOTB").is_correct


def test_the_first_loss_is_measured_by_itself() -> None:
    verdict = compare_losses(torch.tensor(6.6), torch.tensor([6.0]), 0.2, "OOTB")
    assert verdict.error == pytest.approx(0.1)
