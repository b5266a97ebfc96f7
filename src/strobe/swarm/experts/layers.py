"""The kinds of experts that come with Strobe, with hivemind's definitions."""
# mypy: disallow-subclassing-any=False

from __future__ import annotations

import time

import torch
from torch import nn
from torch.nn import functional

from strobe.errors import UsageError
from strobe.swarm.experts.registry import register_expert

_SEQUENCE = 128
_HEADS = 16
_DELAY_S = 0.5


def _rows(batch: int, hidden: int) -> torch.Tensor:
    return torch.zeros(batch, hidden)


@register_expert("ffn", _rows)
class FeedForward(nn.Module):
    """Two linear layers with four times the width between them, added to the input and normalised."""

    def __init__(self, hidden_dim: int) -> None:
        super().__init__()
        self.ffn = nn.Linear(hidden_dim, 4 * hidden_dim)
        self.ffn_output = nn.Linear(4 * hidden_dim, hidden_dim)
        self.layer_norm = nn.LayerNorm(hidden_dim, eps=1e-12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = functional.gelu(self.ffn(x), approximate="tanh")
        return self.layer_norm(x + self.ffn_output(inner))


@register_expert(
    "transformer",
    lambda batch, hidden: (torch.zeros(batch, _SEQUENCE, hidden), torch.zeros(batch, _SEQUENCE, dtype=torch.bool)),
)
class TransformerLayer(nn.Module):
    """One encoder layer over sequences of 128; the mask is true where there is nothing to attend to."""

    def __init__(self, hidden_dim: int) -> None:
        super().__init__()
        if hidden_dim % _HEADS:
            raise UsageError(
                f"hidden_dim is {hidden_dim}; a transformer's is shared by {_HEADS} heads: give a multiple of that"
            )
        self.layer = nn.TransformerEncoderLayer(
            hidden_dim, _HEADS, dim_feedforward=4 * hidden_dim, dropout=0.0, activation="gelu", batch_first=True
        )

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.layer(x, src_key_padding_mask=mask)


@register_expert("nop", _rows)
class Nop(nn.Module):
    """Gives back what it gets: what is left is the cost of everything around an expert."""

    def __init__(self, hidden_dim: int) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clone()


@register_expert("nop_delay", _rows)
class NopDelay(nn.Module):
    """Gives back what it gets, after half a second: a slow expert for tests of patience."""

    def __init__(self, hidden_dim: int) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        time.sleep(_DELAY_S)
        return x.clone()


@register_expert("det_dropout", lambda batch, hidden: (torch.zeros(batch, hidden), torch.zeros(batch, hidden)))
class DeterministicDropout(nn.Module):
    """A linear layer after a dropout whose mask is an input, so that both passes drop the same."""

    keep = 0.8

    def __init__(self, hidden_dim: int) -> None:
        super().__init__()
        self.linear_in = nn.Linear(hidden_dim, 2 * hidden_dim)
        self.activation = nn.ReLU()
        self.linear_out = nn.Linear(2 * hidden_dim, hidden_dim)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.linear_out(self.activation(self.linear_in(x * mask / self.keep)))
