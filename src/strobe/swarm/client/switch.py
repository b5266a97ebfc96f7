"""`RemoteSwitchMixtureOfExperts`: one expert per row, and a loss that keeps the gate from sending all rows to few.

After Fedus et al., "Switch Transformers": the output of the expert is weighted with its probability; the loss is least
when the coordinates of every dimension get the same number of rows. A row whose expert does not answer passes as it is.
"""
# mypy: disallow-subclassing-any=False

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from strobe.errors import UsageError
from strobe.swarm.client.beam import Found
from strobe.swarm.client.mixture import RemoteMixtureOfExperts
from strobe.swarm.dht import DHT


class RemoteSwitchMixtureOfExperts(RemoteMixtureOfExperts):
    """Returns the output and the balancing loss.

    While training, inputs of the gate are shaken by up to `jitter`, and coordinates are left out of the search with
    probability `grid_dropout`, so that the gate tries others; `utilization_decay` is how long it remembers who got how
    many rows.
    """

    def __init__(
        self,
        dht: DHT,
        *,
        in_features: int,
        grid_size: Sequence[int],
        uid_prefix: str,
        jitter: float = 0.01,
        grid_dropout: float = 0.0,
        utilization_decay: float = 0.9,
        **options: Any,
    ) -> None:
        if not 0 <= grid_dropout < 1 or not 0 <= utilization_decay < 1:
            raise UsageError("grid_dropout and utilization_decay are at least 0 and less than 1")
        options.setdefault("allow_zero_outputs", True)
        super().__init__(dht, in_features=in_features, grid_size=grid_size, uid_prefix=uid_prefix, k_best=1, **options)
        self.jitter = jitter
        self.grid_dropout = grid_dropout
        self.utilization_decay = utilization_decay
        for dimension, size in enumerate(self.grid_size):
            self.register_buffer(f"utilization_{dimension}", torch.full((size,), 1 / size))

    def forward(self, x: torch.Tensor, *more: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the output for rows `x`, and the loss to be added (times a small factor) to that of the task."""
        shaken = x * torch.empty_like(x).uniform_(1 - self.jitter, 1 + self.jitter) if self.training else x
        scores = self.scores(shaken)
        probabilities = [torch.softmax(score, 1) for score in scores]
        found = self.find(self._dropped(scores), (x, *more))
        outputs, mask = self.ask(found, (x, *more))
        if self.training:
            self._count(found)
        # The product of the probabilities of its coordinates is the expert's. Not by the logarithm of a probability:
        # one that is 0 in float32 would give the gate NaN.
        chance = self.logits([torch.log_softmax(score, 1) for score in scores], found).exp()
        answered = mask.view(-1, *(1 for _ in x.shape[1:]))
        mixed = torch.einsum("bk,bk...->b...", chance.to(outputs.dtype), outputs)
        return torch.where(answered, mixed, x), self._balancing_loss(probabilities)

    def _dropped(self, scores: list[torch.Tensor]) -> list[torch.Tensor]:
        if not self.training or not self.grid_dropout:
            return scores
        dropped = []
        for score in scores:
            is_out = torch.rand(score.shape[1], device=score.device) < self.grid_dropout
            is_out[torch.randint(score.shape[1], ())] = False  # never all of them
            dropped.append(score.detach().masked_fill(is_out, torch.finfo(score.dtype).min / 8))
        return dropped

    def _count(self, found: list[list[Found]]) -> None:
        """Remember which coordinates got how much of the batch."""
        chosen = [row[0].coordinates for row in found if row]
        if not chosen:
            return
        for dimension, size in enumerate(self.grid_size):
            share = torch.bincount(torch.tensor([each[dimension] for each in chosen]), minlength=size) / len(chosen)
            utilization = self.get_buffer(f"utilization_{dimension}")
            utilization.lerp_(share.to(utilization), 1 - self.utilization_decay)

    def _balancing_loss(self, probabilities: list[torch.Tensor]) -> torch.Tensor:
        """Return 1 for an even spread, up to the size of the grid's dimension when one coordinate gets all."""
        losses = []
        for dimension, (size, each) in enumerate(zip(self.grid_size, probabilities, strict=True)):
            # A copy, for the backward pass: the next forward pass changes the buffer.
            utilization = self.get_buffer(f"utilization_{dimension}").clone()
            mean = each.mean(0) if len(each) else each.sum(0)  # which is 0 without rows, not NaN
            losses.append(size * (utilization * mean).sum())
        return torch.stack(losses).mean()
