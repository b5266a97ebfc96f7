"""Peaks that a home already knows of this machine, so that tests do not measure them."""

from __future__ import annotations

import os
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from strobe.bench import machine
from strobe.bench.roofline import Peaks, store_at, system_name
from strobe.bench.runner.software import compiler_name, switches

PEAKS = Peaks(flops={"fp32": 1e12}, bytes_per_s=1e10)


def know_peaks(home: Path, *, noisy: tuple[str, ...] = ()) -> None:
    """Write peaks into a home, for as many threads as there are CPUs and for one."""
    if find_spec("torch") is None:
        return
    peaks = Peaks(flops=PEAKS.flops, bytes_per_s=PEAKS.bytes_per_s, noisy=noisy)
    for threads in {1, machine.usable_cpus()}:
        name = system_name(
            machine.describe().fingerprint,
            version("torch"),
            "cpu",
            threads,
            switches(os.environ),
            compiler=compiler_name(),
        )
        store_at(home).write(name, peaks)
