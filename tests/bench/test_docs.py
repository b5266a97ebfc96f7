"""docs/benchmarks.md names everything there is, and its examples work."""

from __future__ import annotations

import re
from pathlib import Path

from strobe.bench.load import catalog, results
from strobe.bench.load.trackers import jsonl
from strobe.bench.load.worker.bench import Bench
from strobe.bench.load.worker.main import load_file

PAGE = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
TRACKER, PROFILE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_every_profile_tracker_feature_and_column_is_named() -> None:
    for profile in catalog.profiles().values():
        assert f"`{profile.name}`" in PAGE
    for tracker in catalog.trackers().values():
        if tracker.features:
            (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {tracker.name} |")]
            assert all(f"`{feature}`" in line for feature in tracker.features)
    assert ", ".join(results.COLUMNS) in PAGE


def test_the_example_of_a_tracker_has_all_its_parts(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(TRACKER, encoding="utf-8")
    assert catalog.load_tracker(path).offers == {"table", "image", "stored", "arrival"}


def test_the_example_of_a_profile_measures(tmp_path: Path) -> None:
    path = tmp_path / "burst.py"
    path.write_text(PROFILE, encoding="utf-8")
    profile = catalog.load_profile(path)
    assert profile.summary == "what the first line says is what --list shows."
    bench = Bench(
        tracker_class=jsonl.Tracker,
        tracker_path=jsonl.__file__,
        module=jsonl.MODULE,
        directory=str(tmp_path / "work"),
        mode="offline",
        features={},
        options=profile.options,
    )
    assert load_file("documented_profile", str(path)).measure(bench)["wall"] > 0
