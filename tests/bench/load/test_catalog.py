"""Profiles and trackers are found by listing their directories, and a bad file is told before anything is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from strobe.bench.load import catalog
from strobe.errors import UsageError

FAKE = Path(__file__).parent / "fake_tracker.py"


def test_everything_promised_is_there() -> None:
    names = {"v1-empty", "v1-scalars", "v1-tables", "v1-images", "log1", "log10", "log100", "spin", "wide", "tables"}
    assert names | {"kill", "million", "init_finish", "import", "memory", "helpers", "size"} == set(catalog.profiles())
    assert set(catalog.trackers()) == {
        *("strobe", "wandb", "trackio", "tensorboardX", "swanlab", "mlflow", "aim", "jsonl")
    }


def test_the_v1_profiles_have_the_sizes_of_the_seed() -> None:
    profiles = catalog.profiles()
    assert profiles["v1-empty"].options == {}
    assert profiles["v1-scalars"].options == {"processes": 10, "steps": 100, "keys": 100}
    assert profiles["v1-tables"].options == {"steps": 10, "tables": 20}
    assert profiles["v1-images"].options == {"processes": 10, "steps": 50, "images": 10}
    assert all([m.name for m in profiles[name].metrics] == ["time_load"] for name in catalog.SEED_PROFILES)


def test_files_are_self_consistent() -> None:
    for profile in catalog.profiles().values():
        assert profile.summary
        assert profile.path.stem.rstrip("_").replace("_", "-") == profile.name.replace("_", "-")
        assert {metric.better for metric in profile.metrics} <= {"less", "more"}
    for tracker in catalog.trackers().values():
        assert tracker.path.stem == tracker.name.lower()
        assert "offline" in tracker.modes
        assert set(tracker.repeats) <= set(tracker.features)


def test_peers_are_pinned() -> None:
    for tracker in catalog.trackers().values():
        if tracker.name not in ("strobe", "jsonl"):
            assert tracker.requirements[0].startswith(f"{tracker.name}==")
    assert "wandb==0.31.0" in catalog.trackers()["wandb"].requirements


def test_all_means_the_seed_profiles() -> None:
    assert [p.name for p in catalog.find_profiles(["log1", "all"])] == ["log1", *catalog.SEED_PROFILES]


def test_a_tracker_may_be_any_file() -> None:
    (found,) = catalog.find_trackers([str(FAKE)])
    assert found.name == "fake"
    assert found.offers == frozenset()


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="tracker 'comet' is not one of aim, jsonl"):
        catalog.find_trackers(["comet"])
    with pytest.raises(UsageError, match="profile 'v2' is not one of"):
        catalog.find_profiles(["v2"])
    with pytest.raises(UsageError, match="no such file"):
        catalog.find_trackers(["nowhere.py"])


def test_a_file_that_lacks_a_part_is_told_which(tmp_path: Path) -> None:
    path = tmp_path / "half.py"
    path.write_text("NAME = 'half'\nMETRICS = {}\nOPTIONS = {}\n")
    with pytest.raises(UsageError, match="lacks NEEDS, measure"):
        catalog.find_profiles([str(path)])
