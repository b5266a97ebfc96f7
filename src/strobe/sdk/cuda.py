"""Taking a CUDA tensor off the device without making the training wait.

The tensor is cloned on the stream that computes it, so a later in-place update cannot change what is recorded. A side
stream then copies the clone into pinned memory, and an event tells when it has arrived. Scalars, by far the most
common, share pinned slots that are allocated once. Written against torch's documented API; no CUDA device was
available to run it on, the logic is tested with a stand-in (docs/deferred.md says so to users).
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from strobe.sdk.pending import Pending
from strobe.sdk.tensor import to_numpy

_SLOTS = 4096
_SLOT_BYTES = 16  # the widest element, complex128
_THREAD_LOCAL = 1  # CU_STREAM_CAPTURE_MODE_THREAD_LOCAL


class CopiedTensor(Pending):
    """A tensor on its way into pinned memory."""

    def __init__(self, lane: Lane, clone: Any, landing: Any, slot: Any, arrived: Any) -> None:
        self._lane = lane
        # Kept until the copy is done: no other stream may be given the memory before, and so none need be told of us.
        self._clone = clone
        self._landing = landing
        self._slot = slot
        self._arrived = arrived
        self.nbytes = clone.numel() * clone.element_size()

    def is_ready(self) -> bool:
        return self._lane.has_passed(self._arrived)

    def resolve(self) -> Any:
        value = self._landing.item() if self._landing.numel() == 1 else to_numpy(self._landing)
        self._clone = self._landing = None
        self._release()
        return value

    def __del__(self) -> None:
        # Given up before it came. The slot may be taken again at once: the side stream writes in order.
        self._release()

    def _release(self) -> None:
        slot, self._slot = self._slot, None
        if slot is not None:
            self._lane.free_slots.append(slot)


class Lane:
    """One device's side stream and pinned slots. Any thread may use it."""

    def __init__(self, torch: Any, device: Any) -> None:
        self._torch = torch
        self._device = device
        self._stream = torch.cuda.Stream(device=device)
        self._lock = threading.Lock()
        #: pinned memory for one element each
        self.free_slots: list[Any] = []

    def copy_off(self, tensor: Any) -> CopiedTensor:
        """Begin to copy `tensor` to the host and return at once. Raises TypeError while a CUDA graph is captured."""
        torch = self._torch
        with torch.cuda.device(self._device):
            if torch.cuda.is_current_stream_capturing():
                raise TypeError("a CUDA graph is being captured, so the tensor has no value yet; log it after a replay")
            # A lazy conjugation would be done by the host, before the copy has arrived.
            source = tensor.detach().resolve_conj().resolve_neg()
            clone = source.clone(memory_format=torch.contiguous_format)
            computed = torch.cuda.Event()
            computed.record(torch.cuda.current_stream(self._device))
            landing, slot = self._find_landing(clone)
            arrived = torch.cuda.Event()
            with torch.cuda.stream(self._stream):
                self._stream.wait_event(computed)
                landing.copy_(clone, non_blocking=True)
                arrived.record(self._stream)
        return CopiedTensor(self, clone, landing, slot, arrived)

    def has_passed(self, event: Any) -> bool:
        """Tell whether the device has come to `event`. Raises RuntimeError if the device has failed."""
        # The guard keeps a thread of ours from opening a context, and its memory, on the first device.
        with self._torch.cuda.device(self._device), _apart_from_captures():
            return bool(event.query())

    def _find_landing(self, clone: Any) -> tuple[Any, Any]:
        if clone.numel() != 1:
            return self._torch.empty(clone.shape, dtype=clone.dtype, pin_memory=True), None
        with self._lock:
            if not self.free_slots:
                # The first scalars, or more of them under way than ever before.
                memory = self._torch.empty(_SLOTS * _SLOT_BYTES, dtype=self._torch.uint8, pin_memory=True)
                self.free_slots += memory.split(_SLOT_BYTES)
            slot = self.free_slots.pop()
        return slot[: clone.element_size()].view(clone.dtype).view(clone.shape), slot


_lanes: dict[Any, Lane] = {}


def copy_off(tensor: Any) -> CopiedTensor | None:
    """Begin to copy `tensor` to the host and return at once; None if it is no plain array of numbers."""
    import torch

    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_nested:
        return None
    lane = _lanes.get(tensor.device)
    if lane is None:
        lane = _lanes.setdefault(tensor.device, Lane(torch, tensor.device))
    return lane.copy_off(tensor)


# -- graphs that others capture ----------------------------------------------------------------------------------------


@contextmanager
def _apart_from_captures() -> Iterator[None]:
    """Keep what this thread asks the device from spoiling a CUDA graph that another thread captures meanwhile."""
    exchange = _find_exchange()
    if exchange is None:
        yield
        return
    mode = ctypes.c_int(_THREAD_LOCAL)
    exchange(ctypes.byref(mode))
    try:
        yield
    finally:
        exchange(ctypes.byref(mode))


_exchange: Any = None


def _find_exchange() -> Any:
    """Return the driver's cuThreadExchangeStreamCaptureMode, which torch does not offer, or None."""
    global _exchange
    if _exchange is None:
        try:
            driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
            _exchange = driver.cuThreadExchangeStreamCaptureMode
        except (OSError, AttributeError):  # another vendor's device, or a driver from before 2019
            _exchange = False
    return _exchange or None
