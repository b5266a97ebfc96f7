"""The compression benchmark itself: a tensor of normal values goes through each way of packing, many times.

Time is that of packing and unpacking together; the error is the mean of squares. Standard library and torch only.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from .talk import Talk

#: packs and unpacks a tensor; returns what came out and how many bytes were in between
RoundTrip = Callable[[torch.Tensor], tuple[torch.Tensor, int]]


def run(talk: Talk, ways: dict[str, RoundTrip]) -> None:
    """Do the job that `talk` was given; a phase for each way."""
    num_iters = int(talk.job["num_iters"])
    torch.manual_seed(talk.job["seed"])
    values = torch.randn(talk.job["size"], dtype=torch.float32)
    for name, round_trip in ways.items():
        round_trip(values[:1000])  # what is imported or built with the first use is not the cost of packing
        error = size = 0.0
        with talk.phase(name) as phase:
            for _ in range(num_iters):
                began = time.perf_counter()
                restored, num_bytes = round_trip(values)
                phase.seconds = (phase.seconds or 0.0) + time.perf_counter() - began
                error += float((values - restored).square().mean())
                size += num_bytes
            phase.figures = {"iters": num_iters, "error": error / num_iters, "bytes": size / num_iters}
    talk.finish()
