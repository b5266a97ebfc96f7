"""What counts as right: small beside the differences between examples, never NaN."""

from __future__ import annotations

import math

import pytest
import torch

from strobe.bench.workloads.correctness import compare_losses, compare_outputs

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
