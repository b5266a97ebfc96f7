"""NVIDIA GPUs through nvidia-ml-py (`pynvml`), when it is installed and finds a driver.

The module is handed in, so that the logic is tested with a stand-in; it was not run on a real GPU here. A figure that a
card does not support is left out of its row and not asked for again. NVML numbers all GPUs of the machine;
CUDA_VISIBLE_DEVICES has no say in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import Any

Figures = Iterator[tuple[str, float]]


def load_nvml() -> Any | None:
    """Return pynvml, initialized, or None: not installed, no driver, no GPU."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError, OSError):
        return None
    return pynvml


class Gpus:
    """All GPUs that `nvml` (an initialized pynvml) finds."""

    def __init__(self, nvml: Any) -> None:
        self._nvml = nvml
        self._handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
        self._not_supported = nvml.NVMLError_NotSupported
        self._unsupported: set[tuple[int, str]] = set()
        self._readers: dict[str, Callable[[Any], Figures]] = {
            "utilization": self._utilization,
            "memory": self._memory,
            "temperature": self._temperature,
            "power": self._power,
            "clocks": self._clocks,
            "errors": self._errors,
            "encoder": self._encoder,
        }

    def __len__(self) -> int:
        return len(self._handles)

    def sample(self, pids: frozenset[int], only: Collection[int] | None = None) -> dict[str, float]:
        """Return a row with all GPUs (or `only` some); `system.gpu.process.*` for those that one of `pids` uses."""
        row: dict[str, float] = {}
        for index, handle in enumerate(self._handles):
            if only is not None and index not in only:
                continue
            for kind, read in self._readers.items():
                figures = self._ask(index, kind, read, handle)
                row.update({f"system.gpu.{index}.{name}": value for name, value in figures.items()})
            if self._is_used_by(handle, index, pids):
                row.update(
                    {
                        f"system.gpu.process.{index}.{name}": row[f"system.gpu.{index}.{name}"]
                        for name in ("gpu", "memory", "memoryAllocated", "memoryAllocatedBytes", "temp", "powerWatts")
                        if f"system.gpu.{index}.{name}" in row
                    }
                )
        return row

    def close(self) -> None:
        with suppress(self._nvml.NVMLError):
            self._nvml.nvmlShutdown()

    def _ask(self, index: int, kind: str, read: Callable[[Any], Figures], handle: Any) -> dict[str, float]:
        if (index, kind) in self._unsupported:
            return {}
        figures: dict[str, float] = {}
        try:
            # One by one, so that what came before an unsupported figure is kept.
            for name, value in read(handle):
                figures[name] = float(value)
        except self._nvml.NVMLError as error:
            # A card that was lost or is being reset may come back; one without ECC will not get it.
            if not figures and isinstance(error, self._not_supported):
                self._unsupported.add((index, kind))
        return figures

    def _is_used_by(self, handle: Any, index: int, pids: frozenset[int]) -> bool:
        if (index, "processes") in self._unsupported:
            return False
        try:
            processes = self._nvml.nvmlDeviceGetComputeRunningProcesses(handle)
        except self._nvml.NVMLError as error:
            if isinstance(error, self._not_supported):
                self._unsupported.add((index, "processes"))
            return False
        return any(process.pid in pids for process in processes)

    def _utilization(self, handle: Any) -> Figures:
        rates = self._nvml.nvmlDeviceGetUtilizationRates(handle)
        yield "gpu", rates.gpu
        yield "memory", rates.memory

    def _memory(self, handle: Any) -> Figures:
        memory = self._nvml.nvmlDeviceGetMemoryInfo(handle)
        yield "memoryAllocatedBytes", memory.used
        if memory.total:
            yield "memoryAllocated", 100.0 * memory.used / memory.total

    def _temperature(self, handle: Any) -> Figures:
        yield "temp", self._nvml.nvmlDeviceGetTemperature(handle, self._nvml.NVML_TEMPERATURE_GPU)

    def _power(self, handle: Any) -> Figures:
        watts = self._nvml.nvmlDeviceGetPowerUsage(handle) / 1000.0
        yield "powerWatts", watts
        limit = self._nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000.0
        yield "enforcedPowerLimitWatts", limit
        if limit:
            yield "powerPercent", 100.0 * watts / limit

    def _clocks(self, handle: Any) -> Figures:
        yield "smClock", self._nvml.nvmlDeviceGetClockInfo(handle, self._nvml.NVML_CLOCK_SM)
        yield "memoryClock", self._nvml.nvmlDeviceGetClockInfo(handle, self._nvml.NVML_CLOCK_MEM)

    def _errors(self, handle: Any) -> Figures:
        nvml = self._nvml
        for name, kind in (
            ("correctedMemoryErrors", nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED),
            ("uncorrectedMemoryErrors", nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
        ):
            yield name, nvml.nvmlDeviceGetTotalEccErrors(handle, kind, nvml.NVML_VOLATILE_ECC)

    def _encoder(self, handle: Any) -> Figures:
        yield "encoderUtilization", self._nvml.nvmlDeviceGetEncoderUtilization(handle)[0]
