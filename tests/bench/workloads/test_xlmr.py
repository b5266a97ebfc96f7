"""XLM-R: the published sizes, an output computed another way, and its work."""
# ruff: noqa: N806 -- shape suffixes

from __future__ import annotations

import numpy as np
import pytest
import torch

from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.xlmr import model, ootb
from tests.bench.workloads import naive, tiny
from tests.bench.workloads.proof import count_parameters, prove_correct, prove_work

pytestmark = pytest.mark.frameworks


# Published checkpoints have 278,043,648 and 559,890,432: with a pooler and one token type, which features do not need.
@pytest.mark.parametrize(
    ("name", "published"), [("base", 278_043_648 - 768 * 769 - 768), ("large", 559_890_432 - 1024 * 1025 - 1024)]
)
def test_parameters_are_as_many_as_published(name: str, published: int) -> None:
    assert count_parameters(lambda: model.Xlmr(model.CONFIGS[name])) == published


def test_output_is_that_of_each_sentence_alone() -> None:
    torch.manual_seed(0)
    net = model.Xlmr(tiny.XLMR.config).double().eval()
    batch = tiny.XLMR_VARIED.draw(np.random.default_rng(1), 4)
    (tokens_BS,) = batch.inputs
    mask_BS = tokens_BS != model.PAD
    assert not mask_BS.all()
    with torch.no_grad():
        positions_S = torch.arange(tokens_BS.shape[1]) + model.PAD + 1
        x_BSD = naive.layer_norm(net.norm, net.tokens.weight[tokens_BS] + net.positions.weight[positions_S])
        expected_BSD = naive.encode(net.encoder, x_BSD, mask_BS)
        torch.testing.assert_close(tiny.XLMR.infer(net, batch), expected_BSD)


def test_tokens_are_words_and_lengths_vary() -> None:
    (tokens_BS,) = tiny.XLMR_VARIED.draw(np.random.default_rng(1), 50).inputs
    assert tokens_BS.max() < tiny.XLMR.config.vocabulary
    lengths_B = (tokens_BS != model.PAD).sum(1)
    assert lengths_B.min() <= 3
    assert lengths_B.max() == tokens_BS.shape[1]
    assert ((tokens_BS == model.PAD) | (tokens_BS >= 4)).all()


@pytest.mark.parametrize("factory", [OotbInference, OotbTraining])
@pytest.mark.parametrize("task", [tiny.XLMR, tiny.XLMR_VARIED], ids=["full", "varied"])
def test_workloads_count_their_work_and_are_right(
    factory: type[OotbInference | OotbTraining], task: ootb.XlmrTask
) -> None:
    prove_work(factory(task))
    prove_correct(factory(task), batch_size=3)
