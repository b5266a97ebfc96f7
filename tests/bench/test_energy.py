"""Energy from counters laid out as powercap lays them out, and from none."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.bench.energy import open_meter


def _package(root: Path, name: str, energy_uj: int, range_uj: int = 1_000_000) -> Path:
    place = root / name
    place.mkdir(parents=True)
    (place / "energy_uj").write_text(f"{energy_uj}\n")
    (place / "max_energy_range_uj").write_text(f"{range_uj}\n")
    return place / "energy_uj"


def test_packages_are_summed_and_their_parts_are_not(tmp_path: Path) -> None:
    first = _package(tmp_path, "intel-rapl:0", 100_000)
    second = _package(tmp_path, "intel-rapl:1", 900_000)
    part = _package(tmp_path, "intel-rapl:0:0", 50_000)
    meter = open_meter("cpu", tmp_path)
    assert meter is not None
    first.write_text("300000\n")
    second.write_text("100000\n")  # it wrapped around
    part.write_text("999999\n")
    assert meter.joule() == pytest.approx(0.2 + 0.2)


def test_no_counters_no_meter(tmp_path: Path) -> None:
    assert open_meter("cpu", tmp_path) is None
    assert open_meter("cpu", tmp_path / "nowhere") is None


def test_the_processor_alone_says_nothing_of_a_card(tmp_path: Path) -> None:
    _package(tmp_path, "intel-rapl:0", 1)
    assert open_meter("cuda", tmp_path) is None
