"""Gradients of one peer between two steps of the swarm: summed with the number of their samples as weights.

What is not finite is left out: averaged with those of others it would spoil everybody's step.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from strobe.swarm.tensors import is_finite


class Gradients:
    """The sum so far. Kept where the parameters are, in float32 (float64 for parameters of that)."""

    def __init__(self, parameters: Sequence[torch.Tensor]) -> None:
        self._parameters = parameters
        self._sums = [
            torch.zeros(
                parameter.shape,
                dtype=torch.float64 if parameter.dtype == torch.float64 else torch.float32,
                device=parameter.device,
            )
            for parameter in parameters
        ]
        self.samples = 0
        self.num_skipped = 0

    def add(self, samples: int) -> bool:
        """Add the gradients that the parameters have now, the mean of so many samples; False if they are not finite.

        A parameter without a gradient counts as one of zeros.
        """
        found = [parameter.grad for parameter in self._parameters]
        if not all(gradient is None or is_finite(gradient) for gradient in found):
            self.num_skipped += 1
            return False
        with torch.no_grad():
            for total, gradient in zip(self._sums, found, strict=True):
                if gradient is not None:
                    total.add_(gradient.to(total.dtype), alpha=samples)
        self.samples += samples
        return True

    def means(self) -> list[torch.Tensor]:
        """Return the mean over all samples, as new tensors."""
        return [total / max(self.samples, 1) for total in self._sums]

    def reset(self) -> None:
        for total in self._sums:
            total.zero_()
        self.samples = 0
