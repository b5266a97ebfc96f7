"""Memory of a worker: its peak without that of the reference, and the sum over processes while they run.

Host memory is the kernel's figure; a card's is what torch's allocator has given out there, by `torch.cuda`, which is
handed in so that the logic is tested with a stand-in.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil


class PeakMemory:
    """The most memory that this process had in RAM, but for what happens between `pause` and `resume`."""

    def __init__(self) -> None:
        self._before = 0
        self._is_cut = False

    def pause(self) -> None:
        """What comes now is not to count: the reference is no part of the benchmark."""
        self._before = max(self._before, _peak_bytes())

    def resume(self) -> None:
        """Count again; where the kernel cannot start its mark anew, the peak stays what it was before."""
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            self._is_cut = True

    def read_bytes(self) -> int:
        return self._before if self._is_cut else max(self._before, _peak_bytes())


class PeakCardMemory:
    """The same of one card; `cuda` is `torch.cuda`."""

    def __init__(self, cuda: Any, device: str) -> None:
        self._cuda, self._device = cuda, device
        self._before = 0

    def pause(self) -> None:
        """What comes now is not to count."""
        self._before = self.read_bytes()

    def resume(self) -> None:
        """Count again, from what is held now."""
        self._cuda.reset_peak_memory_stats(self._device)

    def read_bytes(self) -> int:
        return max(self._before, int(self._cuda.max_memory_allocated(self._device)))


def _peak_bytes() -> int:
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def available_bytes() -> int:
    """Return what can be had without swapping."""
    return int(psutil.virtual_memory().available)


def resident_bytes(pids: Iterable[int]) -> int:
    """Return what processes have in RAM together; those that are gone have nothing."""
    return sum(_resident_bytes(pid) for pid in pids)


def _resident_bytes(pid: int) -> int:
    try:
        # The one file, because this is asked many times a second beside a measurement.
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (FileNotFoundError, ProcessLookupError, IndexError):
        pass
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
