"""A stand-in for torch with CUDA whose device runs only when told to, in the worst order that streams allow.

Every operation is queued on the current stream. `Torch.run()` works off one stream as far as it can before it looks at
the next, oldest or newest first as asked, so whatever is ordered by luck alone comes out wrong. Freed device memory is
handed out again at once to the stream that had it, as torch's allocator does. What real CUDA forbids (a query or an
allocation while a graph is captured, a context opened on a device nobody uses) is noted in `Torch.offences`.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


class Torch:
    """The module: put it into `sys.modules["torch"]`."""

    contiguous_format = "contiguous"
    strided = "strided"
    uint8 = np.dtype("u1")

    def __init__(self, num_devices: int = 1) -> None:
        self.devices = {f"cuda:{number}": Device(self, f"cuda:{number}") for number in range(num_devices)}
        self.cuda = Cuda(self)
        self.offences: list[str] = []
        self.num_pinned = 0
        #: whether this thread, or another one, captures a CUDA graph
        self.captures_here = False
        self.captures_elsewhere = False
        self.failure: str | None = None
        self.local = threading.local()

    def empty(self, shape: Any, *, dtype: Any, pin_memory: bool) -> Tensor:
        assert pin_memory
        if self.captures_here:
            self.offences.append("pinned memory allocated during a capture")
        self.num_pinned += 1
        # Not zero, so that a value read too early is seen.
        array = np.full(shape, 0xEE, np.uint8) if np.dtype(dtype) == np.uint8 else np.full(shape, 99, dtype)
        return Tensor(self, array, None)

    def on_device(self, values: Any, device: str = "cuda:0", dtype: Any = np.float32) -> Tensor:
        """Return a tensor on a device, computed when the device comes to it."""
        content = np.asarray(values, dtype)
        tensor = Tensor(self, self.cuda.current_stream(device).allocate(content), device)
        array = tensor.array
        tensor._enqueue(lambda: _assign(array, content))
        return tensor

    def run(self, *, newest_first: bool = False) -> None:
        """Let all devices do what they can."""
        for device in self.devices.values():
            device.run(newest_first=newest_first)

    def note_query(self, device: str) -> None:
        if self.captures_here or (self.captures_elsewhere and getattr(self.local, "capture_mode", 0) == 0):
            self.offences.append("an event queried during a capture")
        if self.cuda.current_device != device:
            self.offences.append(f"a context opened on {self.cuda.current_device}")
        if self.failure:
            raise RuntimeError(self.failure)

    def exchange_capture_mode(self, pointer: Any) -> int:
        """Do what the driver's cuThreadExchangeStreamCaptureMode does."""
        mode = pointer._obj
        previous = getattr(self.local, "capture_mode", 0)
        self.local.capture_mode, mode.value = mode.value, previous
        return 0


class Device:
    """Streams in the order they were made."""

    def __init__(self, torch: Torch, name: str) -> None:
        self.torch = torch
        self.name = name
        self.streams: list[Queue] = []
        self.lock = threading.RLock()
        self.default = Queue(self)

    def run(self, *, newest_first: bool) -> None:
        with self.lock:
            while any(stream.advance() for stream in (reversed(self.streams) if newest_first else self.streams)):
                pass


class Queue:
    """A queue of operations, and the memory used by them. An operation that returns False is tried again later."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.queue: deque[Callable[[], bool]] = deque()
        self.free: dict[int, list[np.ndarray]] = defaultdict(list)
        device.streams.append(self)

    def allocate(self, like: np.ndarray) -> np.ndarray:
        """Return memory for `like`, with whatever was in it before."""
        with self.device.lock:
            free = self.free[like.nbytes]
            memory = free.pop() if free else np.zeros(like.nbytes, np.uint8)
        array: np.ndarray = memory.view(like.dtype).reshape(like.shape)
        return array

    def enqueue(self, operation: Callable[[], Any]) -> None:
        torch = self.device.torch
        if torch.captures_here:
            torch.offences.append("an operation drawn into a capture")
        self.queue.append(lambda: operation() is not False)

    def wait_event(self, event: Event) -> None:
        self.enqueue(lambda: event.has_happened)

    def step(self) -> bool:
        """Do one operation, if the next one can be done."""
        if not self.queue or not self.queue[0]():
            return False
        self.queue.popleft()
        return True

    def advance(self) -> bool:
        done = False
        while self.step():
            done = True
        return done


class Event:
    """Happens when its stream comes to where it was recorded."""

    def __init__(self) -> None:
        self.has_happened = False
        self._device: Device | None = None

    def record(self, stream: Queue) -> None:
        self._device = stream.device
        stream.enqueue(self._happen)

    def _happen(self) -> None:
        self.has_happened = True

    def query(self) -> bool:
        assert self._device is not None, "an event that was never recorded"
        self._device.torch.note_query(self._device.name)
        return self.has_happened

    def synchronize(self) -> None:
        raise AssertionError("the host waited for the device")


class Cuda:
    """torch.cuda"""

    Event = Event

    def __init__(self, torch: Torch) -> None:
        self._torch = torch
        self._local = threading.local()

    @property
    def current_device(self) -> str:
        return getattr(self._local, "device", "cuda:0")

    @contextmanager
    def device(self, name: str) -> Iterator[None]:
        previous, self._local.device = self.current_device, name
        try:
            yield
        finally:
            self._local.device = previous

    @contextmanager
    def stream(self, stream: Queue) -> Iterator[None]:
        streams = self._streams
        previous = streams.get(stream.device.name)
        with self.device(stream.device.name):
            streams[stream.device.name] = stream
            try:
                yield
            finally:
                streams.pop(stream.device.name)
                if previous is not None:
                    streams[stream.device.name] = previous

    @property
    def _streams(self) -> dict[str, Queue]:
        if not hasattr(self._local, "streams"):
            self._local.streams = {}
        found: dict[str, Queue] = self._local.streams
        return found

    def Stream(self, device: str) -> Queue:  # noqa: N802  # torch's name
        return Queue(self._torch.devices[device])

    def current_stream(self, device: str) -> Queue:
        return self._streams.get(device, self._torch.devices[device].default)

    def is_current_stream_capturing(self) -> bool:
        return self._torch.captures_here


class Tensor:
    """On a device if `device` is set, else in pinned memory of the host."""

    __module__ = "torch"
    layout = "strided"
    is_quantized = False
    is_nested = False

    def __init__(self, torch: Torch, array: np.ndarray, device: str | None) -> None:
        self._torch = torch
        self.array = array
        self.device = device
        self._allocated_on = torch.cuda.current_stream(device) if device in torch.devices else None
        self.shape = array.shape
        self.dtype = array.dtype

    def __del__(self) -> None:
        owner = self.array.base if self.array.base is not None else self.array
        if self._allocated_on is not None and type(self) is Tensor:
            self._allocated_on.free[owner.nbytes].append(owner)

    @property
    def is_cuda(self) -> bool:
        return self.device is not None

    @property
    def ndim(self) -> int:
        return self.array.ndim

    def numel(self) -> int:
        return int(self.array.size)

    def element_size(self) -> int:
        return self.array.itemsize

    def detach(self) -> Tensor:
        return View(self, self.array)

    def resolve_conj(self) -> Tensor:
        return self

    def resolve_neg(self) -> Tensor:
        return self

    def clone(self, memory_format: str) -> Tensor:
        assert self.device is not None
        copy = Tensor(self._torch, self._torch.cuda.current_stream(self.device).allocate(self.array), self.device)
        target, origin = copy.array, self.array
        self._enqueue(lambda: _assign(target, origin))
        return copy

    def add_(self, number: float) -> None:
        """Update in place, when the device comes to it."""
        array = self.array
        self._enqueue(lambda: _assign(array, array + number))

    def copy_(self, source: Tensor, *, non_blocking: bool) -> None:
        assert non_blocking
        assert self.device is None
        target, origin = self.array, source.array  # the raw memory: what happens to it meanwhile is our fault
        source._enqueue(lambda: _assign(target, origin))

    def view(self, what: Any) -> Tensor:
        return View(self, self.array.view(what) if isinstance(what, np.dtype) else self.array.reshape(what))

    def split(self, size: int) -> list[Tensor]:
        return [self[start : start + size] for start in range(0, self.numel(), size)]

    def __getitem__(self, where: slice) -> Tensor:
        return View(self, self.array[where])

    def item(self) -> Any:
        assert self.device is None, "the host waited for the device"
        return self.array.reshape(()).item()

    def cpu(self) -> Tensor:
        assert self.device is None, "the host waited for the device"
        return self

    def numpy(self) -> np.ndarray:
        assert self.device is None, "the host waited for the device"
        return self.array

    def _enqueue(self, operation: Callable[[], Any]) -> None:
        assert self.device is not None
        self._torch.cuda.current_stream(self.device).enqueue(operation)


class ElsewhereTensor(Tensor):
    """On a device of another kind (mps, xpu, xla), where reading is waiting."""

    __module__ = "torch"
    is_cuda = False

    def __init__(self, torch: Torch, values: Any, device: str) -> None:
        super().__init__(torch, np.asarray(values), device)
        self.num_waits = 0

    def detach(self) -> Tensor:
        return self

    def item(self) -> Any:
        self.num_waits += 1
        return self.array.reshape(()).item()

    def cpu(self) -> Tensor:
        self.num_waits += 1
        return Tensor(self._torch, self.array, None)


class View(Tensor):
    """Shares the memory of another tensor, and keeps that alive."""

    __module__ = "torch"

    def __init__(self, base: Tensor, array: np.ndarray) -> None:
        super().__init__(base._torch, array, base.device)
        self._base = base


def _assign(target: np.ndarray, source: np.ndarray) -> None:
    target[...] = source
