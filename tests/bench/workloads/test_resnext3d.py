"""ResNeXt3D: the size from its parts, an output computed another way, and its work."""
# ruff: noqa: N803 -- shape suffixes

from __future__ import annotations

import pytest
import torch
from torch import nn

from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.resnext3d import model
from tests.bench.workloads import tiny
from tests.bench.workloads.proof import count_parameters, prove_correct, prove_work

pytestmark = pytest.mark.frameworks


def _by_hand(group_width: int) -> int:
    total, inputs = 3 * 64 * 3 * 49 + 2 * 64, 64
    for stage, depth in enumerate((3, 4, 23, 3)):
        inner, outputs = 32 * group_width * 2**stage, 256 * 2**stage
        per_block = inner * (inner // 32) * 27 + inner * outputs + 4 * inner + 2 * outputs
        total += depth * per_block + inputs * inner + (depth - 1) * outputs * inner
        total += inputs * outputs + 2 * outputs  # the projected shortcut
        inputs = outputs
    return total + 2048 * 400 + 400


def test_parameters_are_those_of_its_parts() -> None:
    for config in model.CONFIGS.values():
        count = count_parameters(lambda config=config: model.ResNext3d(config))  # type: ignore[misc]  # bound now
        assert count == _by_hand(config.group_width)


def test_in_two_dimensions_it_would_be_resnext101() -> None:
    """ResNeXt-101 32x8d has 88,791,336 weights; ours differs by the third dimension of kernels and by the classes."""
    count = count_parameters(lambda: model.ResNext3d(model.RESNEXT3D_101_32X8D))
    third = 2 * 3 * 64 * 49  # of the stem
    for stage, depth in enumerate((3, 4, 23, 3)):
        inner = 256 << stage
        third += depth * inner * (inner // 32) * 18
    assert count - third + 2049 * 600 == 88_791_336


def _unfolded(conv: nn.Conv3d, norm: nn.BatchNorm3d, x_CTHW: torch.Tensor) -> torch.Tensor:
    """Convolution as products with windows that are cut out by hand, then batch norm."""
    (kt, ks, _), (st, ss, _), (pt, ps, _) = conv.kernel_size, conv.stride, conv.padding
    padded = nn.functional.pad(x_CTHW, (ps, ps, ps, ps, pt, pt))
    windows = padded.unfold(1, kt, st).unfold(2, ks, ss).unfold(3, ks, ss)
    grouped = windows.unflatten(0, (conv.groups, -1))
    weight = conv.weight.unflatten(0, (conv.groups, -1))
    y = torch.einsum("goiabc,githwabc->gothw", weight, grouped).flatten(0, 1)
    scale, shift = (value[:, None, None, None] for value in (norm.weight, norm.bias))
    mean, variance = (value[:, None, None, None] for value in (norm.running_mean, norm.running_var))
    return (y - mean) / (variance + norm.eps).sqrt() * scale + shift


def _naive(net: model.ResNext3d, x: torch.Tensor) -> torch.Tensor:
    x = _unfolded(net.stem, net.stem_norm, x).clamp(min=0)
    for block in net.blocks:
        y = _unfolded(block.reduce, block.reduce_norm, x).clamp(min=0)
        y = _unfolded(block.conv, block.conv_norm, y).clamp(min=0)
        y = _unfolded(block.expand, block.expand_norm, y)
        is_plain = isinstance(block.shortcut, nn.Identity)
        x = (y + (x if is_plain else _unfolded(block.shortcut[0], block.shortcut[1], x))).clamp(min=0)
    return net.head.weight @ x.flatten(1).mean(1) + net.head.bias


def test_output_is_that_of_unfolded_products() -> None:
    torch.manual_seed(0)
    net = model.ResNext3d(tiny.RESNEXT3D.config).double()
    clips = torch.randn(2, 3, 5, 13, 13, dtype=torch.float64)
    net(clips)  # running statistics other than 0 and 1
    net.eval()
    with torch.no_grad():
        torch.testing.assert_close(net(clips), torch.stack([_naive(net, clip) for clip in clips]))


@pytest.mark.parametrize("factory", [OotbInference, OotbTraining])
def test_workloads_count_their_work_and_are_right(factory: type[OotbInference | OotbTraining]) -> None:
    prove_work(factory(tiny.RESNEXT3D))
    prove_correct(factory(tiny.RESNEXT3D), batch_size=3)
