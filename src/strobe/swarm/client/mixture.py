"""`RemoteMixtureOfExperts`: a layer whose experts are anywhere; each row is sent to the few that a gate likes best.

The gate is one linear layer that scores the coordinates of a grid; a beam search finds the best experts that exist.
Their outputs are averaged with the softmax of their scores, over those that answered. Shapes: B rows, K experts of a
row, G coordinates of one dimension.
"""
# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from strobe.errors import UsageError
from strobe.swarm.client.beam import BeamSearch, Found
from strobe.swarm.client.crowd import Crowd, CrowdStats, Patience, Shapes, Share, TooFewExperts, is_enough
from strobe.swarm.client.expert import matched
from strobe.swarm.client.link import Link
from strobe.swarm.client.stub import CallOptions, ExpertStub
from strobe.swarm.dht import DHT
from strobe.swarm.experts.directory import ExpertPlace
from strobe.swarm.tensors import TensorSpec

_MAX_STUBS = 16_384


class RemoteMixtureOfExperts(nn.Module):
    """Sends each row to its `k_best` experts and returns the weighted mean of what comes back.

    Every row needs `k_min` answers within the time-out of `forward`, of which at most half is spent on asking new
    experts what they are; the others are then waited for as long as it says. Experts that do not answer, refuse or do
    not fit are left out, of this pass and for some seconds. With `allow_zero_outputs` rows without any answer are zero
    (and get no gradient); otherwise TooFewExperts is raised.
    """

    def __init__(
        self,
        dht: DHT,
        *,
        in_features: int,
        grid_size: Sequence[int],
        uid_prefix: str,
        k_best: int = 4,
        forward: Patience | None = None,
        backward: Patience | None = None,
        allow_zero_outputs: bool = False,
        compression: str = "none",
    ) -> None:
        super().__init__()
        self.forward_patience = forward or Patience()
        self.backward_patience = backward or Patience()
        for patience in (self.forward_patience, self.backward_patience):
            if not 0 <= patience.k_min <= k_best:
                raise UsageError(f"k_min is {patience.k_min}; of {k_best} experts per row 0 to {k_best} can be needed")
        self.k_best = k_best
        self.grid_size = tuple(grid_size)
        self.allow_zero_outputs = allow_zero_outputs
        self.gate = nn.Linear(in_features, sum(self.grid_size))
        self.crowd = Crowd()
        self._link = Link(dht)
        timeout_s = max(self.forward_patience.timeout_s, self.backward_patience.timeout_s)
        self._options = CallOptions(timeout_s=timeout_s, compression=compression)
        self._search = BeamSearch(dht, uid_prefix, self.grid_size)
        self._stubs: dict[ExpertPlace, ExpertStub] = {}
        self._learns = torch.empty(0, requires_grad=True)

    @property
    def stats(self) -> CrowdStats:
        """What became of the requests so far."""
        return self.crowd.stats

    def forward(self, x: torch.Tensor, *more: torch.Tensor) -> torch.Tensor:
        """Return the mixture for rows `x` (B, in_features); `more` are further inputs of the experts, row by row."""
        scores = self.scores(x)
        found = self.find(scores, (x, *more))
        outputs, mask = self.ask(found, (x, *more))
        logits = self.logits(scores, found).masked_fill(~mask, -torch.inf)
        # A row without answers has no softmax; its outputs are zero anyway.
        weights = torch.where(mask.any(1, keepdim=True), torch.softmax(logits, 1), torch.zeros_like(logits))
        return torch.einsum("bk,bk...->b...", weights.to(outputs.dtype), outputs)

    def scores(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Return what the gate says of each coordinate of each dimension, (B, G) each."""
        flat = x if x.dim() == 2 else x.flatten(1, -2).mean(1)
        return list(self.gate(flat).split(self.grid_size, dim=1))

    def find(self, scores: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor] = ()) -> list[list[Found]]:
        """Return the best experts of each row, without those that do not take such inputs as far as is known."""
        arrays = [score.detach().float().cpu().numpy() for score in scores]
        return self._search.find(arrays, self.k_best, partial(self.crowd.is_left_out, shapes=_shapes(inputs)))

    def logits(self, scores: Sequence[torch.Tensor], found: list[list[Found]]) -> torch.Tensor:
        """Return the scores of the experts found as (B, K), through which the gate learns."""
        empty = (0,) * len(self.grid_size)
        filled = [[each.coordinates for each in row] + [empty] * (self.k_best - len(row)) for row in found]
        indices = torch.tensor(filled, dtype=torch.int64, device=scores[0].device).view(-1, self.k_best, len(empty))
        return torch.stack([score.gather(1, indices[..., i]) for i, score in enumerate(scores)]).sum(0)

    def ask(self, found: list[list[Found]], inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the outputs (B, K, …) of the experts found, and a mask (B, K) of those that answered."""
        deadline = time.monotonic() + self.forward_patience.timeout_s
        shares = self._shares(found, inputs)
        if shares:
            inputs = matched(shares[0].stub.info, inputs, {})
        if torch.is_grad_enabled():
            for share in shares:
                share.stub.check_learnable(len(share.rows))
        patience = replace(self.forward_patience, timeout_s=deadline - time.monotonic())
        outputs, mask = _Crowded.apply(self._learns, self, patience, shares, *inputs)
        least = int(mask.sum(1).min()) if len(mask) else patience.k_min  # without rows nobody lacks anything
        if least < patience.k_min and not self.allow_zero_outputs:
            raise TooFewExperts(
                f"a row got answers of {least} experts and needs {patience.k_min}{self._misfit(found, inputs)}; "
                f"failures so far: {dict(self.stats.reasons) or 'none, too few experts are declared'}"
            )
        return outputs, mask

    def _misfit(self, found: list[list[Found]], inputs: tuple[torch.Tensor, ...]) -> str:
        """Say what the experts found take, if it is not what they are given."""
        given = _shapes(inputs)
        for place in dict.fromkeys(each.place for row in found for each in row):
            stub = self._stub(place)
            specs = list(stub.info.inputs.values()) if stub.has_info else []
            if specs and tuple(spec.shape for spec in specs) != given:
                rows = ", ".join(str(TensorSpec.of(tensor[0])) for tensor in inputs)
                return f": {place.uid} takes {', '.join(map(str, specs))} for each row; given: {rows}"
        return ""

    def _shares(self, found: list[list[Found]], inputs: tuple[torch.Tensor, ...]) -> list[Share]:
        rows: dict[ExpertPlace, list[tuple[int, int]]] = {}
        for number, experts in enumerate(found):
            for position, each in enumerate(experts):
                rows.setdefault(each.place, []).append((number, position))
        shares = [Share(self._stub(place), *torch.tensor(of_place).unbind(1)) for place, of_place in rows.items()]
        patience = self.forward_patience
        self.crowd.prepare(
            [share.stub for share in shares],
            lambda waiting: is_enough(
                _alike(shares, inputs),
                [share for share in shares if share.stub in waiting],
                len(inputs[0]),
                patience.k_min,
            ),
            # However many are silent, there is time left for those who are not.
            replace(patience, timeout_s=patience.timeout_s / 2),
        )
        alike = dict.fromkeys(_alike(shares, inputs))
        for share in shares:
            if share.stub.has_info and share not in alike:
                self.crowd.leave_out(share.stub, _shapes(inputs))
        return list(alike)

    def _stub(self, place: ExpertPlace) -> ExpertStub:
        stub = self._stubs.get(place)
        if stub is None:
            if len(self._stubs) >= _MAX_STUBS:  # in a swarm that comes and goes; the ones in use come back
                self._stubs.clear()
            stub = self._stubs[place] = ExpertStub(place, self._link, self._options)
        return stub

    def extra_repr(self) -> str:
        return f"grid_size={self.grid_size}, k_best={self.k_best}"


def _shapes(inputs: Sequence[torch.Tensor]) -> Shapes:
    return tuple(tuple(tensor.shape[1:]) for tensor in inputs)


def _alike(shares: list[Share], inputs: tuple[torch.Tensor, ...]) -> list[Share]:
    """Return those whose experts take inputs of these shapes and give one tensor, all of the kind that most are.

    There is no mean of different kinds, and one that lies about itself must not spoil it for the others.
    """
    shapes = _shapes(inputs)
    kinds = {
        share: (tuple(info.inputs.values()), tuple(info.outputs.values()))
        for share in shares
        if share.stub.has_info and len((info := share.stub.info).grad_outputs) == len(info.outputs) == 1
    }
    fitting = Counter(kind for kind in kinds.values() if tuple(spec.shape for spec in kind[0]) == shapes)
    if not fitting:
        return []
    usual = fitting.most_common(1)[0][0]
    return [share for share, kind in kinds.items() if kind == usual]


class _Crowded(torch.autograd.Function):
    """Both passes of all experts of a batch."""

    @staticmethod
    def forward(
        ctx: Any,
        learns: torch.Tensor,
        layer: RemoteMixtureOfExperts,
        patience: Patience,
        shares: list[Share],
        *inputs: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        outputs, mask = layer.crowd.forward(shares, inputs, layer.k_best, patience)
        ctx.layer = layer
        ctx.shares = [share for share in shares if bool(mask[share.rows[0], share.places[0]])]
        ctx.save_for_backward(*inputs)
        ctx.mark_non_differentiable(mask)
        if not outputs:
            outputs = [torch.zeros(len(inputs[0]), layer.k_best, *inputs[0].shape[1:], dtype=inputs[0].dtype)]
        return outputs[0].to(inputs[0].device), mask

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor, _: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        layer: RemoteMixtureOfExperts = ctx.layer
        patience = layer.backward_patience
        inputs = ctx.saved_tensors
        totals, least = layer.crowd.backward(ctx.shares, inputs, [grad], patience)
        if len(grad) and least < patience.k_min and not layer.allow_zero_outputs:
            raise TooFewExperts(
                f"of a row only {least} experts took the gradient, {patience.k_min} should; "
                f"failures so far: {dict(layer.stats.reasons)}"
            )
        back = iter(totals)
        return None, None, None, None, *(next(back) if tensor.is_floating_point() else None for tensor in inputs)
