"""`RemoteExpert`: an expert of another peer, used like a module of one's own.

expert = RemoteExpert(place, dht)
loss = expert(x).sum()
loss.backward()  # the expert learns, and x gets its gradient
"""
# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from strobe.errors import UsageError
from strobe.swarm.client.link import Link
from strobe.swarm.client.stub import CallOptions, ExpertStub
from strobe.swarm.dht import DHT
from strobe.swarm.experts.directory import ExpertPlace, find_experts
from strobe.swarm.experts.schema import ExpertInfo, are_rows, check_names, check_rows
from strobe.swarm.tensors import TensorSpec
from strobe.swarm.tensors.dtypes import dtype_of

#: An input without gradient is no reason for an expert not to learn: this one has.
_LEARNS: Final = torch.empty(0, requires_grad=True)


class RemoteExpert(nn.Module):
    """An expert that another peer serves. Calls wait for the answer and raise NetworkError or BadReply."""

    def __init__(self, place: ExpertPlace, dht: DHT | Link, options: CallOptions | None = None) -> None:
        super().__init__()
        link = dht if isinstance(dht, Link) else Link(dht)
        self.stub = ExpertStub(place, link, options or CallOptions())

    @property
    def uid(self) -> str:
        return self.stub.place.uid

    @property
    def info(self) -> ExpertInfo:
        """What it takes and gives, as it says itself."""
        return self.stub.info

    def forward(self, *args: torch.Tensor, **kwargs: torch.Tensor) -> Any:
        """Return the output, or a tuple of them, for inputs by place or by name."""
        stub = self.stub
        inputs = matched(stub.info, args, kwargs)
        outputs = _Pass.apply(_LEARNS, stub, *inputs) if torch.is_grad_enabled() else _passed(stub, inputs)
        return outputs[0] if len(outputs) == 1 else outputs

    def extra_repr(self) -> str:
        return f"{self.uid} at {self.stub.place.address}"


def get_experts(dht: DHT, uids: Iterable[str], options: CallOptions | None = None) -> list[RemoteExpert | None]:
    """Return the experts of these names, None for those that nobody serves."""
    link, names = Link(dht), list(uids)
    places = find_experts(dht, names)
    return [None if (place := places[uid]) is None else RemoteExpert(place, link, options) for uid in names]


def matched(
    info: ExpertInfo, args: tuple[torch.Tensor, ...], kwargs: dict[str, torch.Tensor]
) -> tuple[torch.Tensor, ...]:
    """Return inputs in the expert's order, floats in its precision; UsageError or SchemaMismatch if they do not fit."""
    specs = info.inputs
    given = args if len(args) == len(specs) and not kwargs else _in_order(info, args, kwargs)
    if are_rows(specs, given):
        return given
    fitting = tuple(map(_in_precision, given, specs.values()))
    check_rows(info.uid, specs, dict(zip(specs, map(TensorSpec.of, fitting), strict=True)))
    return fitting


def _in_order(
    info: ExpertInfo, args: tuple[torch.Tensor, ...], kwargs: dict[str, torch.Tensor]
) -> tuple[torch.Tensor, ...]:
    names = list(info.inputs)
    given = dict(zip(names, args, strict=False))
    if len(args) > len(names) or given.keys() & kwargs.keys():
        raise UsageError(f"{info.uid} takes {', '.join(names)}; given: {len(args)} tensors and {', '.join(kwargs)}")
    given.update(kwargs)
    check_names(info.uid, info.inputs, given)
    return tuple(given[name] for name in names)


def _in_precision(tensor: torch.Tensor, spec: TensorSpec) -> torch.Tensor:
    dtype = dtype_of(spec.dtype)
    if tensor.dtype is dtype:
        return tensor
    return tensor.to(dtype) if spec.is_float and tensor.is_floating_point() else tensor


def _passed(stub: ExpertStub, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    """Return the outputs of a forward pass, where the inputs are."""
    outputs, first = stub.forward(inputs), inputs[0]
    return tuple(outputs if first.is_cpu else [output.to(first.device) for output in outputs])


class _Pass(torch.autograd.Function):
    """Both passes of one expert."""

    @staticmethod
    def forward(ctx: Any, learns: torch.Tensor, stub: ExpertStub, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ctx.stub = stub
        ctx.save_for_backward(*inputs)
        stub.check_learnable(inputs[0].shape[0])
        outputs = _passed(stub, inputs)
        if unlearnable := [output for output in outputs if not output.is_floating_point()]:
            ctx.mark_non_differentiable(*unlearnable)
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        stub: ExpertStub = ctx.stub
        inputs = ctx.saved_tensors
        specs = stub.info.outputs.values()
        wanted = [grad.contiguous() for grad, spec in zip(grads, specs, strict=True) if spec.is_float]
        got = iter(stub.backward(inputs, wanted))
        back = [
            next(got).to(x.device) if spec.is_float else None
            for x, spec in zip(inputs, stub.info.inputs.values(), strict=True)
        ]
        return None, None, *back
