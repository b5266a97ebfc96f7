"""Convolutions in C from plane to plane give what torch gives, dense and grouped, over space and over time."""

from __future__ import annotations

import shutil

import pytest
import torch
from torch import nn

from strobe.bench.workloads.layers.fast_norm import convolve, norm_relu
from strobe.bench.workloads.layers.fp32_residual import Fp32Conv, Fp32Gate
from strobe.bench.workloads.layers.int8_conv import Int8Conv, Signal, round_signal
from strobe.bench.workloads.layers.int8_residual import Int8Gate
from strobe.bench.workloads.layers.plane import NO_BORDER, Plane, PlaneConv
from strobe.bench.workloads.layers.residual import Conv
from strobe.errors import Error

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
]

CONVOLUTIONS: dict[str, tuple[Conv, tuple[int, ...]]] = {
    "1x1": (nn.Conv2d(8, 24, 1, bias=False), (7, 9)),
    "1x1, stride 2": (nn.Conv2d(12, 16, 1, 2), (7, 9)),
    "3x3, dense": (nn.Conv2d(16, 40, 3, 1, 1), (5, 6)),
    "1x1, panels of which the last is not whole": (nn.Conv2d(8, 104, 1), (5, 6)),
    "3x3, groups of eight, stride 2": (nn.Conv2d(24, 24, 3, 2, 1, groups=3), (9, 8)),
    "3x3, groups of sixteen": (nn.Conv2d(32, 32, 3, 1, 1, groups=2), (4, 13)),
    "3x3, groups of thirty-two": (nn.Conv2d(64, 64, 3, 1, 1, groups=2), (4, 5)),
    "3x3x3, groups of four": (nn.Conv3d(16, 16, 3, 1, 1, groups=4), (3, 5, 7)),
    "3x3x3, groups of four, stride 2": (nn.Conv3d(8, 8, 3, 2, 1, groups=2, bias=False), (4, 5, 6)),
    "stem": (nn.Conv3d(3, 8, (3, 7, 7), (1, 2, 2), (1, 3, 3), bias=False), (3, 9, 11)),
}


def _as_plane(x: torch.Tensor, layer: PlaneConv, dtype: torch.dtype) -> Plane:
    """Put [B, C, ...] with channels last into a plane with the border that the layer's windows need."""
    values = (x if x.dim() == 5 else x[:, :, None]).permute(0, 2, 3, 4, 1).to(dtype)
    channels = -(-values.shape[4] // 4) * 4
    plane = Plane.filled((*values.shape[:4], channels), layer.padding, dtype)
    frames, height, width = (slice(edge, edge + n) for edge, n in zip(plane.border, plane.size, strict=True))
    plane.values[:, frames, height, width, : values.shape[4]] = values
    return plane


def _as_batch(plane: Plane, like: torch.Tensor) -> torch.Tensor:
    return plane.values.permute(0, 4, 1, 2, 3).reshape(like.shape).double()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_in_32_bits_are_torchs(name: str, threads: int, instructions: None) -> None:
    conv, size = CONVOLUTIONS[name]
    torch.manual_seed(1)
    x = torch.randn(3, conv.in_channels, *size)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.no_grad():
            summed = conv(x)
            beside = torch.randn_like(summed)
            expected = (summed + beside).relu().double()
            layer = Fp32Conv(conv, is_relu=True)
            residual = beside.movedim(1, -1).contiguous()
            bound = layer.bind(_as_plane(x, layer, torch.float32), NO_BORDER, residual=residual)
            bound()
    finally:
        torch.set_num_threads(before)
    torch.testing.assert_close(_as_batch(bound.written, expected), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", [name for name in CONVOLUTIONS if name != "stem"])
def test_seven_bits_give_what_their_calibration_foresaw(name: str, instructions: None) -> None:
    """The kernel's numbers are those that the layer computed with torch when it was made, to a unit."""
    conv, size = CONVOLUTIONS[name]
    torch.manual_seed(2)
    with torch.no_grad():
        x = torch.rand(3, conv.in_channels, *size)
        seen = round_signal(x, x)
        layer = Int8Conv(conv, seen, is_relu=True)
        bound = layer.bind(_as_plane((seen.rounded / seen.scale).round(), layer, torch.uint8), NO_BORDER)
        bound()
    foreseen = (layer.learned.rounded / layer.learned.scale).double()
    difference = _as_batch(bound.written, foreseen) - foreseen
    assert difference.abs().max() < 1.001
    assert difference.abs().mean() < 0.02
    error = (layer.learned.rounded - layer.learned.exact).square().mean().sqrt()
    assert error < 0.1 * layer.learned.exact.std()


def test_sums_are_kept_in_sixteen_bits() -> None:
    torch.manual_seed(3)
    conv = nn.Conv2d(8, 8, 1)
    with torch.no_grad():
        x = torch.rand(2, 8, 3, 3)
        seen = round_signal(x, x)
        shortcut = Int8Conv(conv, seen, is_relu=False)
        added = Int8Conv(conv, seen, is_relu=True, residual=shortcut.learned)
        plane = _as_plane((seen.rounded / seen.scale).round(), added, torch.uint8)
        beside = shortcut.bind(plane, None, is_added_to=True)
        bound = added.bind(plane, NO_BORDER, residual=beside.addend, is_added_to=True)
        beside()
        bound()
    assert bound.addend.dtype == torch.int16
    sums = bound.addend.permute(0, 4, 1, 2, 3).flatten(2) * (added.learned.scale / 64)
    torch.testing.assert_close(sums, added.learned.exact.flatten(2), atol=0.05 * float(x.max()), rtol=0.05)


def test_gates_are_torchs() -> None:
    torch.manual_seed(4)
    squeeze, excite = nn.Conv2d(16, 5, 1), nn.Conv2d(5, 16, 1)
    with torch.no_grad():
        x = torch.rand(3, 16, 19, 17)
        expected = x * torch.sigmoid(excite(torch.relu(squeeze(x.mean((2, 3), keepdim=True)))))
        any_layer = Fp32Conv(nn.Conv2d(16, 16, 1), is_relu=True)
        plane = _as_plane(x, any_layer, torch.float32)
        Fp32Gate(squeeze, excite).bind(plane)()
        torch.testing.assert_close(_as_batch(plane, expected), expected.double(), atol=1e-5, rtol=1e-5)
        seen = round_signal(x, x)
        gate = Int8Gate(squeeze, excite, Signal(x, seen.rounded, seen.scale))
        plane = _as_plane((seen.rounded / seen.scale).round(), any_layer, torch.uint8)
        gate.bind(plane)()
        units = (gate.learned.rounded / gate.learned.scale).double()
        assert (_as_batch(plane, units) - units).abs().max() < 1.001


@pytest.mark.parametrize(
    "conv",
    [
        nn.Conv2d(8, 12, 1),
        nn.Conv2d(6, 8, 1),
        nn.Conv2d(16, 16, 3, groups=8),
        nn.Conv2d(8, 8, 3, dilation=2),
        nn.Conv2d(16, 8, 3, groups=2),
        nn.Conv2d(3, 24, 3, groups=3),
    ],
)
def test_what_the_kernels_cannot_do_is_told(conv: nn.Conv2d) -> None:
    with pytest.raises(Error, match="our own convolutions"):
        Fp32Conv(conv, is_relu=False)


@pytest.mark.parametrize("has_residual", [True, False])
@pytest.mark.parametrize("is_relu", [True, False])
def test_norms_in_c_have_torchs_outputs_and_gradients(is_relu: bool, has_residual: bool) -> None:
    torch.manual_seed(5)
    norm, plain = nn.BatchNorm2d(11), nn.BatchNorm2d(11)
    nn.init.uniform_(norm.weight, 0.5, 2)
    plain.load_state_dict(norm.state_dict())
    x, beside, weight = (torch.randn(3, 11, 9, 5) for _ in range(3))
    inputs = [x.requires_grad_(), *([beside.requires_grad_()] if has_residual else [])]
    residual = beside if has_residual else None
    found = norm_relu(norm, x, is_relu=is_relu, residual=residual)
    expected = plain(x) + (beside if has_residual else 0)
    expected = expected.relu() if is_relu else expected
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    grads, expected_grads = (
        torch.autograd.grad((y * weight).sum(), [*inputs, *layer.parameters()])
        for y, layer in ((found, norm), (expected, plain))
    )
    for grad, expected_grad in zip(grads, expected_grads, strict=True):
        torch.testing.assert_close(grad, expected_grad, atol=1e-4, rtol=1e-4)
    for value, expected_value in zip(norm.buffers(), plain.buffers(), strict=True):
        torch.testing.assert_close(value, expected_value)


@pytest.mark.parametrize("conv", [nn.Conv3d(6, 5, 1, bias=False), nn.Conv3d(6, 5, 1, (1, 2, 2), bias=False)])
def test_convolutions_of_one_pixel_are_products(conv: nn.Conv3d) -> None:
    x = torch.randn(2, 6, 3, 5, 4)
    torch.testing.assert_close(convolve(conv, x), conv(x), atol=1e-5, rtol=1e-5)


def test_planes_whose_positions_need_more_than_32_bits_are_refused() -> None:
    with pytest.raises(Error, match=r"positions in 32 bits.*\(1400, 1, 226, 226, 32\); take a smaller batch"):
        Plane.filled((1400, 1, 224, 224, 32), (0, 1, 1), torch.uint8)


def test_nan_comes_out_of_convolutions_as_nan() -> None:
    conv = nn.Conv2d(8, 16, 3, 1, 1)
    x = torch.randn(2, 8, 5, 6)
    x[0, 3, 2, 2] = torch.nan
    with torch.no_grad():
        expected = conv(x).relu().double()
        layer = Fp32Conv(conv, is_relu=True)
        bound = layer.bind(_as_plane(x, layer, torch.float32), NO_BORDER)
        bound()
    assert expected.isnan().any()
    torch.testing.assert_close(_as_batch(bound.written, expected), expected, atol=1e-4, rtol=1e-4, equal_nan=True)


def test_nan_comes_out_of_gates_as_nan() -> None:
    squeeze, excite = nn.Conv2d(16, 5, 1), nn.Conv2d(5, 16, 1)
    x = torch.rand(2, 16, 4, 4)
    x[0, 3, 2, 2] = torch.nan
    with torch.no_grad():
        plane = _as_plane(x, Fp32Conv(nn.Conv2d(16, 16, 1), is_relu=True), torch.float32)
        Fp32Gate(squeeze, excite).bind(plane)()
    assert _as_batch(plane, x)[0].isnan().all()
    assert not _as_batch(plane, x)[1].isnan().any()


@pytest.mark.parametrize("is_relu", [True, False])
def test_nan_comes_out_of_norms_as_nan(is_relu: bool) -> None:
    x = torch.randn(2, 3, 4, 5)
    x[0, 1, 2, 2] = torch.nan
    norms = nn.BatchNorm2d(3), nn.BatchNorm2d(3)
    found = norm_relu(norms[0], x.requires_grad_(), is_relu=is_relu, residual=None)
    expected = norms[1](x).relu() if is_relu else norms[1](x)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5, equal_nan=True)
    grads, expected_grads = (
        torch.autograd.grad(y.square().sum(), [x, *norm.parameters()])
        for y, norm in ((found, norms[0]), (expected, norms[1]))
    )
    for grad, expected_grad in zip(grads, expected_grads, strict=True):
        torch.testing.assert_close(grad, expected_grad, atol=1e-4, rtol=1e-4, equal_nan=True)
    for value, expected_value in zip(norms[0].buffers(), norms[1].buffers(), strict=True):
        torch.testing.assert_close(value, expected_value, equal_nan=True)
