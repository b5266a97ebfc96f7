"""OSCAR: the size from its parts, an output computed another way, and its work."""
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

import numpy as np
import pytest
import torch

from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.oscar import model
from tests.bench.workloads import naive, tiny
from tests.bench.workloads.proof import count_parameters, prove_correct, prove_work

pytestmark = pytest.mark.frameworks


def test_parameters_are_bert_with_regions_and_answers() -> None:
    bert_base_uncased = 109_482_240  # as published, with its pooler
    regions, answers = 2054 * 768 + 768, 768 * 3129 + 3129
    assert count_parameters(lambda: model.Oscar(model.OSCAR_BASE)) == bert_base_uncased + regions + answers


def test_output_is_that_of_each_question_alone() -> None:
    torch.manual_seed(0)
    net = model.Oscar(tiny.OSCAR.config).double().eval()
    batch = tiny.OSCAR.draw(np.random.default_rng(1), 4).to("cpu", torch.float64)
    tokens_BT, types_BT, regions_BRV, mask_BS = batch.inputs
    assert not mask_BS.all()
    with torch.no_grad():
        text_BTD = net.tokens.weight[tokens_BT] + net.positions.weight[:40] + net.types.weight[types_BT]
        x_BSD = torch.cat([naive.layer_norm(net.norm, text_BTD), naive.linear(net.regions, regions_BRV)], 1)
        first_BD = naive.encode(net.encoder, x_BSD, mask_BS)[:, 0]
        expected_BA = naive.linear(net.classifier, torch.tanh(naive.linear(net.pooler, first_BD)))
        torch.testing.assert_close(net(*batch.inputs), expected_BA)


def test_loss_is_the_sum_over_answers() -> None:
    output, target = torch.randn(3, 7), torch.rand(3, 7)
    p = torch.sigmoid(output)
    expected = -(target * p.log() + (1 - target) * (1 - p).log()).sum(1).mean()
    torch.testing.assert_close(tiny.OSCAR.loss(output, target), expected)


@pytest.mark.parametrize("factory", [OotbInference, OotbTraining])
def test_workloads_count_their_work_and_are_right(factory: type[OotbInference | OotbTraining]) -> None:
    prove_work(factory(tiny.OSCAR))
    prove_correct(factory(tiny.OSCAR), batch_size=3)
