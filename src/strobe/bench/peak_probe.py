"""Measures this machine's peaks: `python -m strobe.bench.peak_probe DEVICE THREADS` prints them as JSON.

The best of many tries, not the median: a peak is what nobody disturbed. Precisions that a machine only emulates can be
a thousand times slower, so each begins with a small product and grows while that is quick; one that a machine lacks
costs no other. On CPUs the products that Optimized rows run are tried beside torch's, which emulates 8 bits on
processors without an instruction for them, and leaves half of the others' speed to processors of one maker.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec
import torch

from strobe.bench.roofline import Peaks
from strobe.bench.runner import affinity, conditions
from strobe.bench.workloads.layers.fp32_linear import PackedLinear
from strobe.bench.workloads.layers.int8_linear import Int8Linear
from strobe.errors import Error

_TRY_S = 0.3
_SIZES = (256, 1024, 2048, 4096, 8192, 16384)
_QUICK_S = 0.05
_ARRAY_BYTES = 256_000_000
#: calls that a card is waited for together, so that the wait is no part of it
_QUEUED = 10
_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}

#: makes a product of square matrices of a size
_Make: TypeAlias = Callable[[int], Callable[[], object]]


def _best_s(work: Callable[[], object], device: str) -> float:
    is_cuda = device.startswith("cuda")
    calls = _QUEUED if is_cuda else 1
    best, deadline = float("inf"), time.perf_counter() + _TRY_S
    while time.perf_counter() < deadline or best == float("inf"):
        began = time.perf_counter()
        for _ in range(calls):
            work()
        if is_cuda:
            torch.cuda.synchronize(device)
        best = min(best, (time.perf_counter() - began) / calls)
    return best


def _peak_flops(make: _Make, device: str) -> float:
    peak = 0.0
    for size in _SIZES:
        try:
            seconds = _best_s(make(size), device)
        except RuntimeError:  # no room for so large a one
            if not peak:
                raise
            break
        peak = max(peak, 2.0 * size**3 / seconds)
        if seconds > _QUICK_S:
            break
    return peak


def _product(dtype: torch.dtype, device: str) -> _Make:
    def make(size: int) -> Callable[[], object]:
        a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
        out = torch.empty_like(a)
        return lambda: torch.mm(a, b, out=out)

    return make


def _int8_product(device: str) -> _Make:
    def make(size: int) -> Callable[[], object]:
        a, b = (torch.randint(-127, 127, (size, size), dtype=torch.int8, device=device) for _ in range(2))
        return lambda: torch._int_mm(a, b)

    return make


def _own_product(size: int) -> Callable[[], object]:
    layer, x = PackedLinear(torch.nn.Linear(size, size)), torch.randn(size, size)
    return lambda: layer(x)


def _own_int8_product(size: int) -> Callable[[], object]:
    """Make our product, which brings its left factor to 8 bits in the same time."""
    layer, x = Int8Linear(torch.nn.Linear(size, size)), torch.randn(size, size)
    return lambda: layer(x)


def _products(device: str) -> dict[str, list[_Make]]:
    """Return what is tried in each precision; on CPUs also our own."""
    is_cpu = device == "cpu"
    return {
        **{name: [_product(dtype, device)] for name, dtype in _DTYPES.items()},
        "fp32": [_product(torch.float32, device), *([_own_product] if is_cpu else [])],
        "int8": [_int8_product(device), *([_own_int8_product] if is_cpu else [])],
    }


def _best_flops(products: Mapping[str, Sequence[_Make]], device: str) -> dict[str, float]:
    """Return the best of each precision that can be computed here; raises for fp32, which all are held against."""
    flops: dict[str, float] = {}
    for name, makes in products.items():
        faults: list[Exception] = []
        for make in makes:
            try:
                flops[name] = max(flops.get(name, 0.0), _peak_flops(make, device))
            except (Error, OSError, RuntimeError) as exc:  # then no row runs it either
                faults.append(exc)
        if name == "fp32" and name not in flops:
            raise faults[0]
    return flops


def _flops(device: str) -> dict[str, float]:
    torch.backends.cuda.matmul.allow_tf32 = False
    flops = _best_flops(_products(device), device)
    if device.startswith("cuda"):
        torch.backends.cuda.matmul.allow_tf32 = True
        flops |= _best_flops({"tf32": [_product(torch.float32, device)]}, device)
    return flops


def _bytes_per_s(device: str) -> float:
    a, b, c = (torch.rand(_ARRAY_BYTES // 4, device=device) for _ in range(3))
    copy = 2 * a.nbytes / _best_s(lambda: a.copy_(b), device)
    triad = 3 * a.nbytes / _best_s(lambda: torch.add(b, c, alpha=3.0, out=a), device)
    return float(max(copy, triad))


def main() -> None:
    """Measure where a row with so many threads would be, and print."""
    device, threads = sys.argv[1], int(sys.argv[2])
    cpus = affinity.share(affinity.allowed_cpus(), 0, threads)
    affinity.pin(cpus)
    torch.set_num_threads(threads)
    before = conditions.look(cpus)
    with torch.inference_mode():
        flops, bytes_per_s = _flops(device), _bytes_per_s(device)
    between = conditions.Between(before, conditions.look(cpus), len(cpus) or os.cpu_count() or 1)
    peaks = Peaks(flops=flops, bytes_per_s=bytes_per_s, noisy=conditions.disturbances(between))
    sys.stdout.write(msgspec.json.encode(peaks).decode() + "\n")


if __name__ == "__main__":
    main()
