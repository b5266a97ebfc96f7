"""Each profile gives the metrics that it promises, in this process, at a small size, on the floor tracker."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.bench.load import catalog
from strobe.bench.load.trackers import jsonl
from strobe.bench.load.worker.bench import Bench
from strobe.bench.load.worker.main import load_file

SMALL = {
    "calls": 20,
    "processes": 2,
    "steps": 3,
    "keys": 5,
    "rows": 10,
    "tables": 2,
    "images": 2,
    "kills": 2,
    "limit_s": 1,
    "starts": 1,
    "seconds": 0,
    "settle_s": 0,
}
# These start interpreters, or wait for random moments.
PROCESSES = {"import", "memory", "kill", "v1-scalars", "v1-images"}


def _measure(name: str, directory: Path) -> dict[str, float]:
    profile = catalog.profiles()[name]
    bench = Bench(
        tracker_class=jsonl.Tracker,
        tracker_path=jsonl.__file__,
        module=jsonl.MODULE,
        directory=str(directory),
        mode="offline",
        features={},
        options={**profile.options, **{k: v for k, v in SMALL.items() if k in profile.options}},
    )
    metrics = load_file("profile_under_test", str(profile.path)).measure(bench)
    assert set(metrics) == {metric.name for metric in profile.metrics}
    return dict(metrics)


@pytest.mark.parametrize("name", sorted(set(catalog.profiles()) - PROCESSES))
def test_profiles_give_what_they_promise(name: str, tmp_path: Path) -> None:
    metrics = _measure(name, tmp_path)
    assert all(value >= 0 or metric == "cpu" for metric, value in metrics.items())


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PROCESSES))
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_profiles_that_start_processes(name: str, tmp_path: Path) -> None:
    metrics = _measure(name, tmp_path)
    if name == "kill":
        assert metrics["lost"] == 0
        assert metrics["kills"] == 2


def test_a_million_is_counted(tmp_path: Path) -> None:
    metrics = _measure("million", tmp_path)
    assert metrics["calls"] == 20
    assert metrics["missing"] == 0


def test_bytes_per_row_are_those_of_the_file(tmp_path: Path) -> None:
    metrics = _measure("size", tmp_path)
    assert 20 < metrics["row1"] < 40
    assert metrics["row100"] > 50 * metrics["row1"]
