"""Planes of values with channels last, and convolutions from one plane to the next, in whatever numbers.

The loops are in C (`int8_conv.c`, `fp32_conv.c`) and know nothing of frames, heights and widths: tables made here say
where in a plane the window of each output begins, and where in a window the channels lie that one step takes. Thus
one loop does for dense and grouped convolutions of any kernel, over space or over space and time. A plane has room at
its borders for the windows of the next layer.
"""
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere

from strobe.bench.workload import NotHere
from strobe.bench.workloads.layers.native import load_kernels
from strobe.bench.workloads.layers.residual import Conv
from strobe.errors import Error

#: pixels on both sides in time, height and width
Border = tuple[int, ...]
NO_BORDER: Border = (0, 0, 0)
#: channels of a picture, whose plane has room for four
COLOURS = 3
_GREATEST_POSITION = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Plane:
    """Values [B, T, H, W, C] with their border, which stays what it was filled with."""

    values: torch.Tensor
    border: Border

    @staticmethod
    def filled(shape: Sequence[int], border: Border, dtype: torch.dtype, fill: int = 0) -> Plane:
        """Make a plane for values of a shape; the border comes on top."""
        batch, *size, channels = shape
        outer = (batch, *(length + 2 * edge for length, edge in zip(size, border, strict=True)), channels)
        if math.prod(outer) > _GREATEST_POSITION:
            raise Error(f"our own convolutions count positions in 32 bits, too few for {outer}; take a smaller batch")
        return Plane(torch.full(outer, fill, dtype=dtype), border)

    @property
    def size(self) -> tuple[int, ...]:
        """Frames, height and width without the border."""
        return tuple(length - 2 * edge for length, edge in zip(self.values.shape[1:4], self.border, strict=True))

    @property
    def num_pixels(self) -> int:
        """Pixels of one example."""
        return math.prod(self.size)

    def places(self) -> torch.Tensor:
        """Where the pixels of all examples lie."""
        return self.windows(self.size, (1, 1, 1), (0, 0, 0))

    def windows(self, size: Sequence[int], strides: Sequence[int], padding: Sequence[int]) -> torch.Tensor:
        """Where the windows of so many outputs of all examples begin."""
        places = self.values.stride(0) * torch.arange(len(self.values))
        for axis in range(3):
            steps = self.border[axis] - padding[axis] + strides[axis] * torch.arange(size[axis])
            places = places[..., None] + self.values.stride(axis + 1) * steps
        return places.flatten().to(torch.int32)


class _Convolution(ctypes.Structure):
    """The kernels' arguments, in their order."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("x", "windows", "steps", "starts", "w", "scales", "biases")),
        *((name, ctypes.c_void_p) for name in ("residual", "y", "places", "precise")),
        *((name, ctypes.c_long) for name in ("pixels", "num_steps", "panels", "outputs")),
        ("residual_scale", ctypes.c_float),
        *((name, ctypes.c_int) for name in ("vectors", "is_paired", "is_relu")),
    )


class PlaneConv:
    """A convolution, its bias, what is added to it and a ReLU, in that order."""

    #: file of the kernel, and how many channels it takes at a step
    kernel_name: str
    channels_per_step: int
    dtype: torch.dtype

    def __init__(self, conv: Conv, *, is_relu: bool) -> None:
        if conv.weight.device.type != "cpu":
            raise NotHere(f"our own convolutions are written for CPUs, and the device is {conv.weight.device}")
        self.is_relu = is_relu
        self.kernel_size, self.strides, self.padding = _geometry(conv)
        self.groups, self.group_width, self.outputs = conv.groups, conv.in_channels // conv.groups, conv.out_channels
        self.is_of_pictures = conv.in_channels == self.group_width == COLOURS
        per_group = self.outputs // conv.groups
        # Two groups share a vector where both are of four channels, which lie side by side.
        self.is_paired = conv.groups > 1 and per_group == self.group_width == 4
        reads, writes = self.group_width % 4 == 0 or self.is_of_pictures, per_group % 8 == 0 or self.is_paired
        if self.outputs % 8 or not reads or not writes:
            raise Error(f"our own convolutions read four channels of a group at once and write eight: {conv} cannot")
        fitting = (n for n in range(self.most_vectors(), 1, -2) if conv.groups == 1 or per_group % (8 * n) == 0)
        self.vectors = next(fitting, 1)
        self.residual_scale = 1.0
        self.scales: torch.Tensor | None = None

    def most_vectors(self) -> int:
        """Give how many vectors of eight outputs a panel of the kernel has at most, an even number."""
        return 2

    def lay_out(self, weight: torch.Tensor, bias: torch.Tensor) -> None:
        """Bring weights into the kernel's order: [panels, steps (an even number), outputs, channels of a step]."""
        per_step = self.channels_per_step
        weight = weight.detach().view(self.outputs, self.group_width, *self.kernel_size)
        weight = F.pad(weight, (0, 0) * 3 + (0, -self.group_width % per_step))
        weight = weight.permute(0, 2, 3, 4, 1).reshape(self.outputs, -1, per_step)
        weight = F.pad(weight, (0, 0, 0, weight.shape[1] % 2, 0, -self.outputs % (8 * self.vectors)))
        self.panels = weight.unflatten(0, (-1, 8 * self.vectors)).transpose(1, 2).contiguous()
        first = torch.arange(len(self.panels)) * 8 * self.vectors
        self.starts = (first // (self.outputs // self.groups) * self.group_width).to(torch.int32)
        self.biases = self.pad_outputs(bias)

    @property
    def weight_bytes(self) -> int:
        """Size of what a pass reads beside its input."""
        return sum(int(part.nbytes) for part in (self.panels, self.scales, self.biases) if part is not None)

    def pad_outputs(self, values: torch.Tensor) -> torch.Tensor:
        """Kernels read whole panels."""
        return F.pad(values.detach().float(), (0, -len(values) % (8 * self.vectors))).contiguous()

    def bind(
        self, seen: Plane, border: Border | None, *, residual: torch.Tensor | None = None, is_added_to: bool = False
    ) -> Bound:
        """Fix where values come from and go to; a border of None: nothing but the next sum needs them."""
        lengths = zip(seen.size, self.padding, self.kernel_size, self.strides, strict=True)
        size = [(length + 2 * edge - kernel) // stride + 1 for length, edge, kernel, stride in lengths]
        windows = seen.windows(size, self.strides, self.padding)
        _, per_frame, per_line, per_pixel, _ = seen.values.stride()
        steps = [
            t * per_frame + h * per_line + w * per_pixel + channel
            for t, h, w in product(*map(range, self.kernel_size))
            for channel in range(0, self.group_width, self.channels_per_step)
        ]
        steps += steps[-1:] * (len(steps) % 2)
        shape = (len(seen.values), *size, self.outputs)
        plane, precise = self.make_room(shape, border, is_added_to)
        return Bound(self, seen, windows, torch.tensor(steps, dtype=torch.int32), residual, plane, precise)

    def make_room(
        self, shape: Sequence[int], border: Border | None, is_added_to: bool
    ) -> tuple[Plane | None, torch.Tensor | None]:
        """Give the plane that is written, and a more precise copy of it if there is one."""
        return Plane.filled(shape, border or NO_BORDER, self.dtype), None


class Bound:
    """A layer for one batch size; a call reads what is in its inputs and fills its outputs."""

    def __init__(
        self,
        layer: PlaneConv,
        seen: Plane,
        windows: torch.Tensor,
        steps: torch.Tensor,
        residual: torch.Tensor | None,
        plane: Plane | None,
        precise: torch.Tensor | None,
    ) -> None:
        self.plane, self.precise, self.kernel = plane, precise, load_kernels(layer.kernel_name).convolve
        tensors = (
            *(seen.values, windows, steps, layer.starts, layer.panels, layer.scales, layer.biases, residual),
            *((None, None) if plane is None else (plane.values, plane.places())),
            precise,
        )
        self.kept = tensors  # the kernel knows only where they lie
        self.structure = _Convolution(
            *(None if tensor is None else tensor.data_ptr() for tensor in tensors),
            *(len(windows), len(steps), len(layer.panels), layer.outputs),
            *(layer.residual_scale, layer.vectors, layer.is_paired, layer.is_relu),
        )

    def __call__(self) -> None:
        self.kernel(ctypes.byref(self.structure), torch.get_num_threads())

    @property
    def written(self) -> Plane:
        """What the next convolution reads."""
        assert self.plane is not None
        return self.plane

    @property
    def addend(self) -> torch.Tensor:
        """What the next block adds to."""
        return self.written.values if self.precise is None else self.precise


def _geometry(conv: Conv) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Give kernel, strides and padding in time, height and width; a picture is a clip of one frame."""
    if isinstance(conv.padding, str) or any(step != 1 for step in conv.dilation):
        raise Error(f"our own convolutions have windows without holes and a padding in numbers: {conv} has not")
    kernel_size, strides, padding = conv.kernel_size, conv.stride, tuple(conv.padding)
    if len(kernel_size) == 3:
        return kernel_size, strides, padding
    return (1, *kernel_size), (1, *strides), (0, *padding)
