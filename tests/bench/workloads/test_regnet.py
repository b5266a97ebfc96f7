"""RegNetY: the published sizes, an output computed another way, and its work."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.regnet import model, ootb
from strobe.bench.workloads.task import Batch
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import count_parameters, prove_correct, prove_work

pytestmark = pytest.mark.frameworks


# Published with the torchvision weights of the same configurations.
@pytest.mark.parametrize(("name", "published"), [("400MF", 4_344_144), ("8GF", 39_381_472), ("128GF", 644_812_894)])
def test_parameters_are_as_many_as_published(name: str, published: int) -> None:
    assert count_parameters(lambda: model.RegNet(model.CONFIGS[name])) == published


# Published with the same weights, in multiply-adds per picture of 224 x 224.
@pytest.mark.parametrize(("name", "giga"), [("400MF", 0.402), ("8GF", 8.473), ("128GF", 127.518)])
def test_work_is_as_much_as_published(name: str, giga: float) -> None:
    batch = Batch((), torch.zeros(1))
    assert ootb.RegNetTask(model.CONFIGS[name]).flops(batch).forward / 2e9 == pytest.approx(giga, abs=6e-4)


def _unfolded(conv: nn.Conv2d, norm: nn.BatchNorm2d, x: torch.Tensor) -> torch.Tensor:
    """Convolution as one product per group over unfolded patches, then batch norm written out."""
    (kernel, _), (stride, _) = conv.kernel_size, conv.stride
    patches = F.unfold(x, kernel, padding=kernel // 2, stride=stride)
    batch, _, places = patches.shape
    grouped = patches.view(batch, conv.groups, -1, places)
    weight = conv.weight.view(conv.groups, conv.out_channels // conv.groups, -1)
    y = torch.einsum("goi,bgip->bgop", weight, grouped).reshape(batch, conv.out_channels, places)
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()
    y = (y - norm.running_mean[:, None]) * scale[:, None] + norm.bias[:, None]
    side = round(places**0.5)
    return y.view(batch, -1, side, side)


def _naive(net: model.RegNet, x: torch.Tensor) -> torch.Tensor:
    x = _unfolded(net.stem[0], net.stem[1], x).clamp(min=0)
    for block in net.blocks:
        first, second, gate, last = block.body
        y = _unfolded(first[0], first[1], x).clamp(min=0)
        y = _unfolded(second[0], second[1], y).clamp(min=0)
        mean = y.flatten(2).mean(2)
        hidden = (mean @ gate.squeeze.weight[:, :, 0, 0].T + gate.squeeze.bias).clamp(min=0)
        y = y / (1 + torch.exp(-(hidden @ gate.excite.weight[:, :, 0, 0].T + gate.excite.bias)))[:, :, None, None]
        y = _unfolded(last[0], last[1], y)
        x = (
            y + (x if isinstance(block.shortcut, nn.Identity) else _unfolded(block.shortcut[0], block.shortcut[1], x))
        ).clamp(min=0)
    return x.flatten(2).mean(2) @ net.head.weight.T + net.head.bias


def test_output_is_that_of_unfolded_products() -> None:
    torch.manual_seed(0)
    net = model.RegNet(tiny.REGNET.config).double()
    images = torch.randn(2, 3, 17, 17, dtype=torch.float64)
    net(images)  # running statistics other than 0 and 1
    net.eval()
    with torch.no_grad():
        torch.testing.assert_close(net(images), _naive(net, images))


@pytest.mark.parametrize("factory", [OotbInference, OotbTraining])
def test_workloads_count_their_work_and_are_right(factory: type[OotbInference | OotbTraining]) -> None:
    prove_work(factory(tiny.REGNET))
    prove_correct(factory(tiny.REGNET), batch_size=4)
