"""Energy from counters laid out as powercap lays them out, from a stand-in of NVML, and from none."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.bench import energy
from strobe.bench.energy import open_meter


def _package(root: Path, name: str, energy_uj: int, kind: str = "package-0", range_uj: int = 1_000_000) -> Path:
    place = root / name
    place.mkdir(parents=True)
    (place / "name").write_text(f"{kind}\n")
    (place / "energy_uj").write_text(f"{energy_uj}\n")
    (place / "max_energy_range_uj").write_text(f"{range_uj}\n")
    return place / "energy_uj"


def test_packages_are_summed_and_their_parts_are_not(tmp_path: Path) -> None:
    first = _package(tmp_path, "intel-rapl:0", 100_000)
    second = _package(tmp_path, "intel-rapl:1", 900_000, "package-1")
    part = _package(tmp_path, "intel-rapl:0:0", 50_000, "core")
    # On laptops, the whole board: both packages are in it.
    board = _package(tmp_path, "intel-rapl:2", 10_000, "psys")
    meter = open_meter(["cpu"], tmp_path)
    assert meter is not None
    first.write_text("300000\n")
    second.write_text("100000\n")  # it wrapped around
    part.write_text("999999\n")
    board.write_text("900000\n")
    assert meter.joule() == pytest.approx(0.2 + 0.2)


def test_no_counters_no_meter(tmp_path: Path) -> None:
    assert open_meter(["cpu"], tmp_path) is None
    assert open_meter(["cpu"], tmp_path / "nowhere") is None
    _package(tmp_path, "intel-rapl:0", 1, "psys")
    assert open_meter(["cpu"], tmp_path) is None


def test_the_processor_alone_says_nothing_of_a_card(tmp_path: Path) -> None:
    _package(tmp_path, "intel-rapl:0", 1)
    assert open_meter(["cuda"], tmp_path) is None


class Nvml:
    """Cards 0 to 3 of a machine; each reads ten to the power of its number, in Joule, since it was first asked."""

    NVMLError = RuntimeError

    def __init__(self) -> None:
        self.asked: dict[int, int] = {}

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802 -- NVML's names
        if index > 3:
            raise self.NVMLError("no such card")
        return index

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> int:  # noqa: N802
        return {"GPU-two": 2}[uuid]

    def nvmlDeviceGetTotalEnergyConsumption(self, card: int) -> int:  # noqa: N802
        self.asked[card] = self.asked.get(card, -1) + 1
        return int(self.asked[card] * 10**card * 1000)


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> Nvml:
    stand_in = Nvml()
    monkeypatch.setattr(energy, "load_nvml", lambda: stand_in)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return stand_in


@pytest.mark.parametrize(
    ("visible", "devices", "joule"),
    [
        (None, ["cuda"], 1.0),
        (None, ["cuda:1"], 10.0),
        (None, ["cuda:0", "cuda:1", "cuda:2"], 111.0),
        ("3,1", ["cuda:0"], 1000.0),
        ("3,1", ["cuda:0", "cuda:1"], 1010.0),
        ("1,GPU-two", ["cuda:1"], 100.0),
    ],
)
def test_cards_are_those_that_cuda_sees_and_all_of_them(
    tmp_path: Path,
    nvml: Nvml,
    monkeypatch: pytest.MonkeyPatch,
    visible: str | None,
    devices: list[str],
    joule: float,
) -> None:
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    meter = open_meter(devices, tmp_path)
    assert meter is not None
    assert meter.joule() == joule


def test_a_card_that_nvml_does_not_know_has_no_meter(tmp_path: Path, nvml: Nvml) -> None:
    assert open_meter(["cuda:7"], tmp_path) is None
