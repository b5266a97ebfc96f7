"""Energy counters: RAPL of the processor packages through Linux' powercap, and NVML of NVIDIA's cards.

A meter reads Joule since some moment; where the machine counts none (virtual machines, or counters that only root may
read) there is no meter, and a result says nothing about energy instead of guessing. NVML numbers the cards of the
machine, CUDA those that CUDA_VISIBLE_DEVICES leaves it; where cards differ, CUDA_DEVICE_ORDER=PCI_BUS_ID gives both the
same order.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strobe.agent.gpu import load_nvml

_POWERCAP = Path("/sys/class/powercap")


@dataclass(frozen=True, slots=True)
class _Package:
    """One processor package; its counter in microjoule starts again at `range_uj`."""

    counter: Path
    range_uj: int

    def read_uj(self) -> int:
        return int(self.counter.read_text())


class Meter:
    """Joule used since it was opened, by everything on the machine."""

    def __init__(self, packages: Sequence[_Package], nvml: Any | None = None, cards: Sequence[Any] = ()) -> None:
        self._packages = packages
        self._nvml = nvml
        self._cards = cards
        self._before_uj = [package.read_uj() for package in packages]
        self._before_mj = self._read_cards_mj()

    def joule(self) -> float:
        """Return what was used; a package that wrapped around more than once in between is undercounted."""
        total = 0.0
        for package, before in zip(self._packages, self._before_uj, strict=True):
            now = package.read_uj()
            total += 1e-6 * (now - before + (package.range_uj if now < before else 0))
        return total + 1e-3 * (self._read_cards_mj() - self._before_mj)

    def _read_cards_mj(self) -> float:
        return (
            sum(float(self._nvml.nvmlDeviceGetTotalEnergyConsumption(card)) for card in self._cards)
            if self._nvml
            else 0.0
        )


def open_meter(devices: Sequence[str], powercap: Path = _POWERCAP) -> Meter | None:
    """Start a meter of the processor and of every card among the devices; None where nothing counts."""
    packages = _packages(powercap)
    numbers = [int(device.partition(":")[2] or 0) for device in devices if device.startswith("cuda")]
    if not numbers:
        return Meter(packages) if packages else None
    nvml = load_nvml()
    if nvml is None:
        return None  # the processor alone would make a card look thrifty
    try:
        return Meter(packages, nvml, [_find_card(nvml, number) for number in dict.fromkeys(numbers)])
    except nvml.NVMLError:
        return None


def _find_card(nvml: Any, number: int) -> Any:
    """Return NVML's handle of what CUDA calls by this number."""
    visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    name = visible[number] if visible else str(number)
    return nvml.nvmlDeviceGetHandleByIndex(int(name)) if name.isdecimal() else nvml.nvmlDeviceGetHandleByUUID(name)


def _packages(powercap: Path) -> list[_Package]:
    found = []
    # "intel-rapl:0" is a package, "intel-rapl:0:1" a part of it that is counted there already; so are packages in
    # "psys", which some processors have beside them.
    for place in sorted(powercap.glob("intel-rapl:*")):
        if place.name.count(":") != 1:
            continue
        try:
            if not (place / "name").read_text().startswith("package-"):
                continue
            package = _Package(place / "energy_uj", int((place / "max_energy_range_uj").read_text()))
            package.read_uj()
        except (OSError, ValueError):
            continue
        found.append(package)
    return found
