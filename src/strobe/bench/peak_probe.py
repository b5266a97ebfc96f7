"""Measures this machine's peaks: `python -m strobe.bench.peak_probe DEVICE THREADS` prints them as JSON.

The best of many tries, not the median: a peak is what nobody disturbed. Precisions that a machine only emulates can be
a thousand times slower, so each begins with a small product and grows while that is quick. Torch emulates 8 bits on
processors without an instruction for it, and what Optimized rows run there is a kernel of our own: both are tried.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import msgspec
import torch

from strobe.bench.roofline import Peaks
from strobe.bench.runner import conditions
from strobe.bench.workload import NotHere
from strobe.bench.workloads.layers.int8_linear import Int8Linear

_TRY_S = 0.3
_SIZES = (256, 1024, 2048)
_QUICK_S = 0.05
_ARRAY_BYTES = 256_000_000
_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def _best_s(work: Callable[[], object], device: str) -> float:
    best, deadline = float("inf"), time.perf_counter() + _TRY_S
    while time.perf_counter() < deadline or best == float("inf"):
        began = time.perf_counter()
        work()
        if device.startswith("cuda"):
            torch.cuda.synchronize(device)
        best = min(best, time.perf_counter() - began)
    return best


def _peak_flops(make: Callable[[int], Callable[[], object]], device: str) -> float:
    peak = 0.0
    for size in _SIZES:
        seconds = _best_s(make(size), device)
        peak = max(peak, 2.0 * size**3 / seconds)
        if seconds > _QUICK_S:
            break
    return peak


def _product(dtype: torch.dtype, device: str) -> Callable[[int], Callable[[], object]]:
    def make(size: int) -> Callable[[], object]:
        a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
        out = torch.empty_like(a)
        return lambda: torch.mm(a, b, out=out)

    return make


def _int8_product(device: str) -> Callable[[int], Callable[[], object]]:
    def make(size: int) -> Callable[[], object]:
        a, b = (torch.randint(-127, 127, (size, size), dtype=torch.int8, device=device) for _ in range(2))
        return lambda: torch._int_mm(a, b)

    return make


def _own_int8_product(size: int) -> Callable[[], object]:
    layer, x = Int8Linear(torch.nn.Linear(size, size)), torch.randn(size, size)
    return lambda: layer(x)


def _int8_flops(device: str) -> float:
    """Return the better of torch's product and ours, which brings its left factor to 8 bits in the same time."""
    peak = _peak_flops(_int8_product(device), device)
    if device != "cpu":
        return peak
    try:
        return max(peak, _peak_flops(_own_int8_product, device))
    except NotHere:  # then no row runs it either
        return peak


def _bytes_per_s(device: str) -> float:
    a, b, c = (torch.rand(_ARRAY_BYTES // 4, device=device) for _ in range(3))
    copy = 2 * a.nbytes / _best_s(lambda: a.copy_(b), device)
    triad = 3 * a.nbytes / _best_s(lambda: torch.add(b, c, alpha=3.0, out=a), device)
    return float(max(copy, triad))


def main() -> None:
    """Measure and print."""
    device, threads = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(threads)
    cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    before = conditions.look(cpus)
    torch.backends.cuda.matmul.allow_tf32 = False
    with torch.inference_mode():
        flops = {name: _peak_flops(_product(dtype, device), device) for name, dtype in _DTYPES.items()}
        flops["int8"] = _int8_flops(device)
        if device.startswith("cuda"):
            torch.backends.cuda.matmul.allow_tf32 = True
            flops["tf32"] = _peak_flops(_product(torch.float32, device), device)
        bytes_per_s = _bytes_per_s(device)
    between = conditions.Between(before, conditions.look(cpus), len(cpus) or os.cpu_count() or 1)
    peaks = Peaks(flops=flops, bytes_per_s=bytes_per_s, noisy=conditions.disturbances(between))
    sys.stdout.write(msgspec.json.encode(peaks).decode() + "\n")


if __name__ == "__main__":
    main()
