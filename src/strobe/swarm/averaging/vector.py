"""The tensors of an averager as one vector of float32, and the lock under which they are read and written."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from strobe.errors import UsageError


class FlatTensors:
    """Tensors of somebody else, by reference."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self._tensors = tuple(tensors)
        if not self._tensors or not all(isinstance(tensor, torch.Tensor) for tensor in self._tensors):
            raise UsageError("there must be tensors to average: a list of at least one")
        for place, tensor in enumerate(self._tensors):
            if not tensor.is_floating_point():
                raise UsageError(f"tensor {place} is of {tensor.dtype}; only floating-point tensors have averages")
        self._lengths = [tensor.numel() for tensor in self._tensors]
        self._lock = threading.Lock()
        self._holder: int | None = None

    def release(self) -> None:
        """Have no tensors any more."""
        with self.held():
            self._tensors = ()

    def digest(self) -> bytes:
        """Return what stands for the shapes, in their order."""
        shapes = ";".join(",".join(map(str, tensor.shape)) for tensor in self._tensors)
        return hashlib.sha256(shapes.encode()).digest()

    @contextmanager
    def held(self) -> Iterator[tuple[torch.Tensor, ...]]:
        """Give the tensors while nobody else reads or writes them."""
        self.check_not_held()
        with self._lock:
            self._holder = threading.get_ident()
            try:
                yield self._tensors
            finally:
                self._holder = None

    def check_not_held(self) -> None:
        """Raise UsageError where waiting for the lock would never end."""
        if self._holder == threading.get_ident():
            raise UsageError("this thread holds the tensors of this averager; leave `with averager.tensors()` first")

    def read(self) -> torch.Tensor:
        """Return a copy of all values."""
        with self.held() as tensors, torch.no_grad():
            return torch.cat([tensor.detach().reshape(-1).to("cpu", torch.float32) for tensor in tensors])

    def write(self, before: torch.Tensor, after: torch.Tensor) -> None:
        """Put the averages into the tensors; what was changed since `before` was read stays, as a difference."""
        with self.held() as tensors, torch.no_grad():
            for tensor, old, mean in zip(tensors, before.split(self._lengths), after.split(self._lengths), strict=True):
                now = tensor.detach().reshape(-1).to("cpu", torch.float32)
                # NaN has no difference: it gives way.
                is_same = torch.equal(now, old)
                new = mean if is_same else torch.where((now == old) | now.isnan(), mean, now + (mean - old))
                tensor.copy_(new.view(tensor.shape))
