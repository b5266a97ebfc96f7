"""The loss of RNN-T: minus the log-probability of a text, summed over all its alignments with the sound.

An alignment is a path through the lattice of frames and symbols, up by a symbol or on by a blank. All places with the
same t + u depend only on those with one less, so that forward and backward variables are computed a whole
anti-diagonal at a time, in log space: T + U steps instead of T * U.
Shapes: B batch, T frames, U symbols of the longest text, W = U + 1, V symbols and blank, N = T + U anti-diagonals.
"""
# mypy: disallow-subclassing-any=False
# ruff: noqa: N803, N806 -- shape suffixes

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 -- its name everywhere

_NEVER = float("-inf")


def rnnt_loss(
    logits_BTWV: torch.Tensor, symbols_BU: torch.Tensor, frames_B: torch.Tensor, lengths_B: torch.Tensor, blank: int
) -> torch.Tensor:
    """Give the loss of each example [B]; frames and symbols beyond its own lengths do not matter."""
    logs_BTWV = torch.log_softmax(logits_BTWV, -1)
    blank_BTW = logs_BTWV[..., blank]
    wanted_BTU1 = symbols_BU[:, None, :, None].expand(-1, logits_BTWV.shape[1], -1, -1)
    emit_BTU = logs_BTWV[:, :, :-1].gather(3, wanted_BTU1)[..., 0]
    return -LatticeLogProbability.apply(blank_BTW, F.pad(emit_BTU, (0, 1)), frames_B, lengths_B)


class LatticeLogProbability(torch.autograd.Function):
    """Log-probability of all paths [B] from those of blanks and of emissions at each place, both [B, T, W]."""

    @staticmethod
    def forward(
        ctx: Any, blank_BTW: torch.Tensor, emit_BTW: torch.Tensor, frames_B: torch.Tensor, lengths_B: torch.Tensor
    ) -> torch.Tensor:
        blank_BNW, emit_BNW, is_last_BNW = _prepare(blank_BTW, emit_BTW, frames_B, lengths_B)
        alpha_BNW = _forward_variables(blank_BNW, emit_BNW)
        beta_BNW = _backward_variables(blank_BNW, emit_BNW, is_last_BNW)
        total_B = beta_BNW[:, 0, 0].clone()
        ctx.save_for_backward(blank_BNW, emit_BNW, is_last_BNW, alpha_BNW, beta_BNW, total_B)
        ctx.num_frames = blank_BTW.shape[1]
        return total_B

    @staticmethod
    def backward(ctx: Any, grad_B: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None, None]:
        """The derivative by a log-probability is the share of all paths that take this very step."""
        blank_BNW, emit_BNW, is_last_BNW, alpha_BNW, beta_BNW, total_B = ctx.saved_tensors
        after_BNW = F.pad(beta_BNW[:, 1:], (0, 0, 0, 1), value=_NEVER)
        after_blank_BNW = after_BNW.masked_fill(is_last_BNW, 0.0)
        after_emit_BNW = F.pad(after_BNW[:, :, 1:], (0, 1), value=_NEVER)
        before_BNW = alpha_BNW - total_B[:, None, None]
        shares = (
            torch.exp(before_BNW + blank_BNW + after_blank_BNW) * grad_B[:, None, None],
            torch.exp(before_BNW + emit_BNW + after_emit_BNW) * grad_B[:, None, None],
        )
        grad_blank_BTW, grad_emit_BTW = (_unskew(share_BNW, ctx.num_frames) for share_BNW in shares)
        return grad_blank_BTW, grad_emit_BTW, None, None


def _prepare(
    blank_BTW: torch.Tensor, emit_BTW: torch.Tensor, frames_B: torch.Tensor, lengths_B: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Forbid steps out of each example's own lattice, and put places with the same t + u in one row."""
    _, num_frames, width = blank_BTW.shape
    t_T1 = torch.arange(num_frames, device=blank_BTW.device)[:, None]
    u_1W = torch.arange(width, device=blank_BTW.device)[None, :]
    last_frame_B11, last_symbol_B11 = (frames_B - 1)[:, None, None], lengths_B[:, None, None]
    is_last_BTW = (t_T1 == last_frame_B11) & (u_1W == last_symbol_B11)
    may_blank_BTW = (t_T1 < last_frame_B11) & (u_1W <= last_symbol_B11) | is_last_BTW
    may_emit_BTW = (t_T1 <= last_frame_B11) & (u_1W < last_symbol_B11)
    return (
        _skew(blank_BTW.masked_fill(~may_blank_BTW, _NEVER), _NEVER),
        _skew(emit_BTW.masked_fill(~may_emit_BTW, _NEVER), _NEVER),
        _skew(is_last_BTW, False),
    )


def _skew(x_BTW: torch.Tensor, fill: float) -> torch.Tensor:
    """Move column u down by u: row n holds the places with t + u = n."""
    batch, num_frames, width = x_BTW.shape
    skewed_BNW = x_BTW.new_full((batch, num_frames + width - 1, width), fill)
    for u in range(width):
        skewed_BNW[:, u : u + num_frames, u] = x_BTW[:, :, u]
    return skewed_BNW


def _unskew(x_BNW: torch.Tensor, num_frames: int) -> torch.Tensor:
    return torch.stack([x_BNW[:, u : u + num_frames, u] for u in range(x_BNW.shape[2])], 2)


def _forward_variables(blank_BNW: torch.Tensor, emit_BNW: torch.Tensor) -> torch.Tensor:
    """Log-probability of coming to each place."""
    alpha_BNW = torch.full_like(blank_BNW, _NEVER)
    alpha_BNW[:, 0, 0] = 0.0
    for n in range(1, blank_BNW.shape[1]):
        by_blank_BW = alpha_BNW[:, n - 1] + blank_BNW[:, n - 1]
        by_emit_BU = (alpha_BNW[:, n - 1] + emit_BNW[:, n - 1])[:, :-1]
        alpha_BNW[:, n] = torch.logaddexp(by_blank_BW, F.pad(by_emit_BU, (1, 0), value=_NEVER))
    return alpha_BNW


def _backward_variables(blank_BNW: torch.Tensor, emit_BNW: torch.Tensor, is_last_BNW: torch.Tensor) -> torch.Tensor:
    """Log-probability of coming from each place to the end, which is the blank of the last place."""
    beta_BNW = torch.full_like(blank_BNW, _NEVER)
    after_BW = torch.full_like(blank_BNW[:, 0], _NEVER)
    for n in reversed(range(blank_BNW.shape[1])):
        on_BW = blank_BNW[:, n] + after_BW.masked_fill(is_last_BNW[:, n], 0.0)
        up_BW = emit_BNW[:, n] + F.pad(after_BW[:, 1:], (0, 1), value=_NEVER)
        after_BW = torch.logaddexp(on_BW, up_BW)
        beta_BNW[:, n] = after_BW
    return beta_BNW
