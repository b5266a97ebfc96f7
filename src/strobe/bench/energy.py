"""Energy counters: RAPL of the processor packages through Linux' powercap, and NVML of NVIDIA's cards.

A meter reads Joule since some moment; where the machine counts none (virtual machines, or counters that only root may
read) there is no meter, and a result says nothing about energy instead of guessing.
"""

from __future__ import annotations

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


def open_meter(device: str, powercap: Path = _POWERCAP) -> Meter | None:
    """Start a meter; None where nothing counts."""
    packages = _packages(powercap)
    if not device.startswith("cuda"):
        return Meter(packages) if packages else None
    nvml = load_nvml()
    if nvml is None:
        return None  # the processor alone would make a card look thrifty
    index = int(device.partition(":")[2] or 0)
    try:
        return Meter(packages, nvml, [nvml.nvmlDeviceGetHandleByIndex(index)])
    except nvml.NVMLError:
        return None


def _packages(powercap: Path) -> list[_Package]:
    found = []
    # "intel-rapl:0" is a package, "intel-rapl:0:1" a part of it that is counted there already.
    for place in sorted(powercap.glob("intel-rapl:*")):
        if place.name.count(":") != 1:
            continue
        try:
            package = _Package(place / "energy_uj", int((place / "max_energy_range_uj").read_text()))
            package.read_uj()
        except (OSError, ValueError):
            continue
        found.append(package)
    return found
