"""Taking a CUDA tensor off the device without making the training wait.

The tensor is cloned on the stream that computes it, so a later in-place update cannot change what is recorded. A side
stream then copies the clone into pinned memory, and an event tells when it has arrived. Scalars, by far the most
common, share one pinned ring that is allocated once. Written against torch's documented API; no CUDA device was
available to run it on, the logic is tested with a stand-in (docs/deferred.md says so to users).
"""

from __future__ import annotations

import threading
from typing import Any

from strobe.run.pending import Pending

_RING_SLOTS = 4096


class CopiedTensor(Pending):
    """A tensor on its way into pinned memory."""

    def __init__(self, event: Any, landing: Any, clone: Any, release: Any) -> None:
        self._event = event
        self._landing = landing
        self._clone = clone  # keeps the device memory until the copy is done
        self._release = release

    def resolve(self) -> Any:
        self._event.synchronize()
        self._clone = None
        value = self._landing.clone()
        if self._release is not None:
            self._release()
        return value.reshape(()).item() if value.numel() == 1 else _to_numpy(value)


class Lane:
    """One device's side stream and ring of pinned scalars."""

    def __init__(self, torch: Any, device: Any) -> None:
        self._torch = torch
        self._device = device
        self._stream = torch.cuda.Stream(device=device)
        self._rings: dict[Any, tuple[Any, list[int]]] = {}
        self._lock = threading.Lock()

    def copy_off(self, tensor: Any) -> CopiedTensor:
        torch = self._torch
        clone = tensor.detach().clone()
        computed = torch.cuda.Event()
        computed.record(torch.cuda.current_stream(self._device))
        landing, release = self._landing_for(clone)
        with torch.cuda.stream(self._stream):
            self._stream.wait_event(computed)
            landing.copy_(clone, non_blocking=True)
            # The allocator must not hand the clone's memory out while the side stream reads it.
            clone.record_stream(self._stream)
            arrived = torch.cuda.Event()
            arrived.record(self._stream)
        return CopiedTensor(arrived, landing, clone, release)

    def _landing_for(self, clone: Any) -> tuple[Any, Any]:
        if clone.numel() == 1:
            with self._lock:
                ring = self._rings.get(clone.dtype)
                if ring is None:
                    pinned = self._torch.empty(_RING_SLOTS, dtype=clone.dtype, pin_memory=True)
                    ring = self._rings[clone.dtype] = (pinned, list(range(_RING_SLOTS)))
                pinned, free = ring
                if free:
                    slot = free.pop()
                    return pinned[slot : slot + 1].view(clone.shape), lambda: free.append(slot)
        # Larger than a scalar, or more scalars under way than the ring holds: memory of its own.
        return self._torch.empty(clone.shape, dtype=clone.dtype, pin_memory=True), None


_lanes: dict[Any, Lane] = {}


def copy_off(tensor: Any) -> CopiedTensor:
    """Begin to copy `tensor` to the host and return at once."""
    import torch

    lane = _lanes.get(tensor.device)
    if lane is None:
        lane = _lanes[tensor.device] = Lane(torch, tensor.device)
    return lane.copy_off(tensor)


def _to_numpy(value: Any) -> Any:
    try:
        return value.numpy()
    except TypeError:  # bfloat16
        return value.float().numpy()
