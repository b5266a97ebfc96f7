"""CvT: the published sizes, an output computed another way, and its work."""
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

import pytest
import torch
from torch import nn

from strobe.bench.workloads.cvt import model, ootb
from strobe.bench.workloads.ootb import OotbInference, OotbTraining
from strobe.bench.workloads.task import Batch
from tests.bench.workloads import naive, tiny
from tests.bench.workloads.proof import count_parameters, prove_correct, prove_work

pytestmark = pytest.mark.frameworks


def _by_hand(depths: tuple[int, int, int]) -> int:
    total, inputs = 0, 3
    for depth, width, kernel in zip(depths, (64, 192, 384), (7, 3, 3), strict=True):
        total += inputs * width * kernel**2 + width + 2 * width  # patches with bias, norm
        convolutions = 3 * (9 * width + 2 * width)
        linears = 4 * (width * width + width) + 2 * 4 * width * width + 5 * width
        total += depth * (convolutions + linears + 2 * 2 * width)
        inputs = width
    return total + 384 + 2 * 384 + 384 * 1000 + 1000  # class token, norm, head


# The paper's table: 20 and 32 million, 4.5 and 7.1 billion multiply-adds.
@pytest.mark.parametrize(("name", "millions", "giga"), [("cvt-13", 19.98, 4.53), ("cvt-21", 31.62, 7.13)])
def test_sizes_are_as_published(name: str, millions: float, giga: float) -> None:
    config = model.CONFIGS[name]
    count = count_parameters(lambda: model.Cvt(config))
    assert count == _by_hand(config.depths)
    assert count / 1e6 == pytest.approx(millions, abs=0.02)
    assert ootb.CvtTask(config).flops(Batch((), torch.zeros(1))).forward / 2e9 == pytest.approx(giga, rel=0.03)


def _depthwise(projection: model.ConvProjection, x_CHW: torch.Tensor) -> torch.Tensor:
    """Each channel by its own 3x3 window, place by place; then batch norm."""
    conv, norm = projection[0], projection[1]
    stride = conv.stride[0]
    padded_CHW = nn.functional.pad(x_CHW, (1, 1, 1, 1))
    rows = []
    for top in range(0, x_CHW.shape[1], stride):
        for left in range(0, x_CHW.shape[2], stride):
            rows.append((padded_CHW[:, top : top + 3, left : left + 3] * conv.weight[:, 0]).sum((1, 2)))
    y_SC = torch.stack(rows)
    return (y_SC - norm.running_mean) / (norm.running_var + norm.eps).sqrt() * norm.weight + norm.bias


def _naive(net: model.Cvt, x_CHW: torch.Tensor) -> torch.Tensor:
    for stage in net.stages:
        kernel, stride, padding = (
            value[0] for value in (stage.patches.kernel_size, stage.patches.stride, stage.patches.padding)
        )
        patches = nn.functional.unfold(x_CHW[None], kernel, padding=padding, stride=stride)[0]
        x_SC = naive.layer_norm(stage.norm, patches.T @ stage.patches.weight.flatten(1).T + stage.patches.bias)
        side = round(len(x_SC) ** 0.5)
        for index, block in enumerate(stage.blocks):
            if index == 0 and stage.token_11C is not None:
                x_SC = torch.cat([stage.token_11C[0], x_SC])
            y_SC = naive.layer_norm(block.attention_norm, x_SC)
            tokens = len(y_SC) - side * side
            picture = y_SC[tokens:].T.reshape(-1, side, side)
            part = block.attention
            q, k, v = (
                naive.linear(linear, torch.cat([y_SC[:tokens], _depthwise(conv, picture)]))
                for conv, linear in (
                    (part.conv_query, part.query),
                    (part.conv_key, part.key),
                    (part.conv_value, part.value),
                )
            )
            x_SC = x_SC + naive.linear(part.output, naive.attend(q, k, v, part.heads, y_SC.shape[1] ** -0.5))
            hidden = naive.linear(block.mlp[0], naive.layer_norm(block.mlp_norm, x_SC))
            x_SC = x_SC + naive.linear(block.mlp[2], hidden / (1 + torch.exp(-1.702 * hidden)))
        x_CHW = x_SC.T.reshape(-1, side, side) if stage.token_11C is None else x_SC[0]
    return naive.linear(net.head, naive.layer_norm(net.norm, x_CHW))


def test_output_is_that_of_loops() -> None:
    torch.manual_seed(0)
    net = model.Cvt(tiny.CVT.config).double()
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.3)
    images = torch.randn(2, 3, 28, 28, dtype=torch.float64)
    net(images)  # running statistics other than 0 and 1
    net.eval()
    with torch.no_grad():
        torch.testing.assert_close(net(images), torch.stack([_naive(net, image) for image in images]))


@pytest.mark.parametrize("factory", [OotbInference, OotbTraining])
def test_workloads_count_their_work_and_are_right(factory: type[OotbInference | OotbTraining]) -> None:
    prove_work(factory(tiny.CVT))
    prove_correct(factory(tiny.CVT), batch_size=3)
