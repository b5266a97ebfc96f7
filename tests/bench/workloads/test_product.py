"""Our product of matrices in training: right for any layout, its gradients torch's, chosen where it is faster."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere
from torch import nn

from strobe.bench.workloads.layers import fp32_product
from strobe.bench.workloads.layers.fp32_product import LearningLinear, learn_linears, linear, multiply_ours

pytestmark = pytest.mark.frameworks

LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "lines": torch.Tensor.contiguous,
    "transposed": lambda x: x.t().contiguous().t(),
    "part of a larger one": lambda x: F.pad(x, (0, x.shape[1], 0, len(x)))[: len(x), : x.shape[1]],
    "every other value": lambda x: x.repeat_interleave(2, 0).repeat_interleave(2, 1)[::2, ::2],
}


@pytest.fixture(params=[True, False], ids=["ours", "torch's"])
def is_ours(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(fp32_product, "is_faster", lambda: request.param)
    return bool(request.param)


@pytest.mark.parametrize("right", LAYOUTS)
@pytest.mark.parametrize("left", LAYOUTS)
def test_products_are_right_for_any_layout(left: str, right: str) -> None:
    torch.manual_seed(0)
    for m, n, k in ((1, 1, 1), (5, 7, 3), (64, 1, 130), (133, 129, 257)):
        x, w = LAYOUTS[left](torch.randn(m, k)), LAYOUTS[right](torch.randn(k, n))
        for threads in (1, 2):
            torch.testing.assert_close(multiply_ours(x, w, threads), x @ w, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rows", [3, 40])
def test_linear_layers_have_torchs_outputs_and_gradients(is_ours: bool, rows: int) -> None:
    torch.manual_seed(0)
    layer, x = nn.Linear(20, 70), torch.randn(2, rows, 20, requires_grad=True)
    along = torch.randn(2, rows, 70)
    wanted = [x, layer.weight, layer.bias]
    expected = torch.autograd.grad((torch.relu(layer(x)) * along).sum(), wanted)
    found = torch.autograd.grad((LearningLinear(layer, is_relu=True)(x) * along).sum(), wanted)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_parameters_keep_their_names_and_learn(is_ours: bool) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2, bias=False))
    names = dict(model.named_parameters())
    learn_linears(model)(torch.randn(50, 4)).sum().backward()
    assert {name: id(value) for name, value in model.named_parameters()} == {
        name: id(value) for name, value in names.items()
    }
    assert all(value.grad is not None for value in names.values())


def test_what_is_not_in_thirty_two_bits_is_torchs(is_ours: bool) -> None:
    x, weight = torch.randn(40, 8, dtype=torch.float64), torch.randn(3, 8, dtype=torch.float64)
    torch.testing.assert_close(linear(x, weight), x @ weight.t())


def test_under_autocast_torch_chooses(is_ours: bool) -> None:
    with torch.autocast("cpu", torch.bfloat16):
        assert linear(torch.randn(40, 8), torch.randn(3, 8)).dtype == torch.bfloat16


def test_choosing_leaves_the_threads_alone() -> None:
    threads = torch.get_num_threads()
    fp32_product.is_faster.cache_clear()
    assert fp32_product.is_faster() in (True, False)
    assert torch.get_num_threads() == threads
