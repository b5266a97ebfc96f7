"""GPU figures from a stand-in for pynvml: names, units, and cards that do not support everything."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from strobe.agent.gpu import Gpus


class FakeError(Exception):
    """NVMLError."""


class FakeNotSupported(FakeError):
    """NVMLError_NotSupported."""


class FakeNvml:
    """Two GPUs; the second knows neither power limits nor ECC nor who uses it."""

    NVMLError = FakeError
    NVMLError_NotSupported = FakeNotSupported
    NVML_TEMPERATURE_GPU, NVML_CLOCK_SM, NVML_CLOCK_MEM = 0, 1, 2
    NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC = 0, 1, 0

    def __init__(self) -> None:
        self.ecc_asked = 0
        self.is_lost = False
        self.is_shut_down = False

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802 - NVML's names
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetUtilizationRates(self, handle: int) -> Any:  # noqa: N802
        if self.is_lost:
            raise FakeError("GPU is lost")
        return SimpleNamespace(gpu=90 + handle, memory=40)

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> Any:  # noqa: N802
        return SimpleNamespace(used=2 << 30, total=8 << 30)

    def nvmlDeviceGetTemperature(self, handle: int, sensor: int) -> int:  # noqa: N802
        return 65

    def nvmlDeviceGetPowerUsage(self, handle: int) -> int:  # noqa: N802
        return 150_000

    def nvmlDeviceGetEnforcedPowerLimit(self, handle: int) -> Any:  # noqa: N802
        return self._unless_second(handle, 300_000)

    def nvmlDeviceGetClockInfo(self, handle: int, kind: int) -> int:  # noqa: N802
        return {1: 1980, 2: 2619}[kind]

    def nvmlDeviceGetTotalEccErrors(self, handle: int, kind: int, counter: int) -> Any:  # noqa: N802
        self.ecc_asked += 1
        return self._unless_second(handle, kind)

    def nvmlDeviceGetEncoderUtilization(self, handle: int) -> list[int]:  # noqa: N802
        return [3, 1000]

    def nvmlDeviceGetComputeRunningProcesses(self, handle: int) -> Any:  # noqa: N802
        return self._unless_second(handle, [SimpleNamespace(pid=42)])

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.is_shut_down = True

    def _unless_second(self, handle: int, value: Any) -> Any:
        if handle == 1:
            raise FakeNotSupported
        return value


@pytest.fixture
def nvml() -> FakeNvml:
    return FakeNvml()


def test_all_figures_of_a_card(nvml: FakeNvml) -> None:
    row = Gpus(nvml).sample(frozenset())
    first = {key.removeprefix("system.gpu.0."): value for key, value in row.items() if key.startswith("system.gpu.0.")}
    assert first == {
        "gpu": 90.0,
        "memory": 40.0,
        "memoryAllocatedBytes": float(2 << 30),
        "memoryAllocated": 25.0,
        "temp": 65.0,
        "powerWatts": 150.0,
        "enforcedPowerLimitWatts": 300.0,
        "powerPercent": 50.0,
        "smClock": 1980.0,
        "memoryClock": 2619.0,
        "correctedMemoryErrors": 0.0,
        "uncorrectedMemoryErrors": 1.0,
        "encoderUtilization": 3.0,
    }


def test_unsupported_figures_are_left_out_and_not_asked_for_again(nvml: FakeNvml) -> None:
    gpus = Gpus(nvml)
    row = gpus.sample(frozenset())
    assert row["system.gpu.1.powerWatts"] == 150.0
    assert "system.gpu.1.powerPercent" not in row
    assert "system.gpu.1.correctedMemoryErrors" not in row
    asked = nvml.ecc_asked
    gpus.sample(frozenset())
    assert nvml.ecc_asked == asked + 2, "the first card only"


def test_a_lost_card_may_come_back(nvml: FakeNvml) -> None:
    gpus = Gpus(nvml)
    nvml.is_lost = True
    assert "system.gpu.0.gpu" not in gpus.sample(frozenset())
    nvml.is_lost = False
    assert gpus.sample(frozenset())["system.gpu.0.gpu"] == 90.0


def test_cards_in_use_by_the_run(nvml: FakeNvml) -> None:
    row = Gpus(nvml).sample(frozenset({42}))
    assert row["system.gpu.process.0.gpu"] == 90.0
    assert not any(key.startswith("system.gpu.process.1") for key in row)
    assert not any(".process." in key for key in Gpus(nvml).sample(frozenset({1})))


def test_count_and_close(nvml: FakeNvml) -> None:
    gpus = Gpus(nvml)
    assert len(gpus) == 2
    gpus.close()
    assert nvml.is_shut_down
