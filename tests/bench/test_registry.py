"""Benchmarks are found by key, beginning, glob, tier and file; a wrong name is answered with the nearest."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from strobe.bench import registry
from strobe.bench.spec import Benchmark, likeness, load_workload
from strobe.errors import Error, StrobeWarning, UsageError

OWN = Path(__file__).parent / "own.py"


def _keys(found: list[Benchmark]) -> list[str]:
    return [one.key for one in found]


def test_a_name_without_a_precision_means_fp32() -> None:
    def rank(config: str) -> tuple[int, bool]:
        return likeness(config, "large-int8")

    assert rank("large") == rank("large-fp32") > rank("large-fp16")
    assert rank("large-int8") > rank("large")


def test_by_key_beginning_and_glob() -> None:
    (one,) = registry.find(["dlrm/ootb/inference/tiny-100k"])
    assert one.config == "tiny-100k"
    assert {one.model for one in registry.find(["DLRM"])} == {"DLRM"}
    assert {one.implementation for one in registry.find(["dlrm/ootb/"])} == {"OOTB"}
    assert all(one.config.endswith("int8") for one in registry.find(["*/optimized/*int8"]))


@pytest.mark.parametrize("declared", ["5", "None", "[5]"])
def test_what_is_no_list_of_benchmarks_is_told(declared: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"BENCHMARKS = {declared}\n")
    with pytest.raises(UsageError, match=r"mine.py: (5|None) is not a strobe.bench.spec.Benchmark"):
        registry.load_file(path)


def test_tiers_contain_each_other() -> None:
    smoke, ci, full = (set(_keys(registry.find(tier=tier))) for tier in registry.TIERS)
    assert smoke < ci < full == set(_keys(registry.find()))


def test_ci_covers_every_model_implementation_and_mode() -> None:
    rows = registry.find(tier="ci")
    for model in ("DLRM", "XLM-R", "CvT", "OSCAR", "RNN-T", "ResNeXt3D", "RegNetY"):
        for implementation in ("OOTB", "Optimized"):
            modes = {one.mode for one in rows if (one.model, one.implementation) == (model, implementation)}
            assert {"Inference", "Training"} <= modes, f"{model} {implementation}"
    kinds = {one.mode for one in rows if one.implementation == "Micro"}
    assert kinds == {one.mode for one in registry.find() if one.implementation == "Micro"}


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no benchmark matches 'dlrn'; did you mean 'dlrm'\?"):
        registry.find(["dlrn"])
    with pytest.raises(UsageError, match="did you mean 'dlrm/ootb/inference/tiny-100k'"):
        registry.find_one("dlrm/ootb/inference/tiny-100")


def test_a_file_of_ones_own() -> None:
    assert _keys(registry.find([str(OWN)])) == _keys(list(registry.load_file(OWN)))
    assert _keys(registry.find(["own/micro/test/Plain"], files=[OWN])) == ["own/micro/test/Plain"]
    workload = load_workload(registry.find_one("own/micro/test/Plain", [OWN]))
    assert workload.step(3) == 3.0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("", "has no BENCHMARKS"), ("BENCHMARKS = [3]", "3 is not a strobe.bench.spec.Benchmark")],
)
def test_a_file_that_declares_nothing(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "empty.py"
    path.write_text(text)
    with pytest.raises(UsageError, match=complaint):
        registry.find([str(path)])
    with pytest.raises(UsageError, match="no such file"):
        registry.find([str(tmp_path / "nowhere.py")])


def test_a_key_is_declared_once(tmp_path: Path) -> None:
    path = tmp_path / "twice.py"
    path.write_text("from strobe.bench.registry import builtin\nfrom dataclasses import replace\n")
    with path.open("a") as stream:
        stream.write("BENCHMARKS = [replace(builtin()[0], owner='me')]\n")
    with pytest.raises(Error, match="is declared twice"):
        registry.find(["dlrm"], files=[path])


def test_an_installed_package_offers_benchmarks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "offered_benchmarks.py").write_text(OWN.read_text())
    monkeypatch.syspath_prepend(str(tmp_path))
    # The real group is read from installed packages; this is what one of them would bring.
    offer = EntryPoints([EntryPoint("own", "offered_benchmarks:BENCHMARKS", registry.ENTRY_POINTS)])
    monkeypatch.setattr(registry, "entry_points", lambda group: offer.select(group=group))
    assert "own/micro/test/Sleep" in registry.everything()


def test_what_measures_a_row_of_the_suite_imports_nobody_elses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A package that brings tensorflow along would add its memory and its threads to every row."""
    (tmp_path / "heavy_benchmarks.py").write_text("BENCHMARKS = []\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    offer = EntryPoints([EntryPoint("heavy", "heavy_benchmarks:BENCHMARKS", registry.ENTRY_POINTS)])
    monkeypatch.setattr(registry, "entry_points", lambda group: offer.select(group=group))
    assert registry.find_one("dlrm/ootb/inference/tiny-100k", [tmp_path / "nowhere.py"]).model == "DLRM"
    assert "heavy_benchmarks" not in sys.modules


def test_optimized_comes_with_its_ootb_before_it() -> None:
    found = _keys(registry.with_partners(registry.find(["regnety/optimized/inference/400MF-int8"])))
    assert found == ["regnety/ootb/inference/400MF-fp32", "regnety/optimized/inference/400MF-int8"]
    found = _keys(registry.with_partners(registry.find(["dlrm/optimized/inference/tiny-100k-embed8-int8"])))
    assert found == ["dlrm/ootb/inference/tiny-100k", "dlrm/optimized/inference/tiny-100k-embed8-int8"]


def test_of_several_precisions_only_the_one_comes_that_it_is_held_against() -> None:
    # The others take minutes where a processor has to emulate them, and nobody would look at them.
    name = "cvt/optimized/inference/cvt-13-224x224"
    assert len(registry.find(["cvt/ootb/inference/cvt-13-224x224*"])) > 2
    found = _keys(registry.with_partners(registry.find([f"{name}-fp32", f"{name}-int8"])))
    assert found == ["cvt/ootb/inference/cvt-13-224x224-fp32", f"{name}-fp32", f"{name}-int8"]


def test_listing_tables_and_seals_need_no_framework() -> None:
    code = (
        "import sys, contextlib, io\n"
        "from strobe.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    main(['bench', 'list']); main(['bench', 'check', '-q'])\n"
        "sys.exit(int(any(name in sys.modules for name in ('torch', 'numpy'))))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_package_that_cannot_be_loaded_is_named_and_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken_benchmarks.py").write_text("import nothing_of_this_name\n")
    (tmp_path / "odd_benchmarks.py").write_text("BENCHMARKS = [3]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    offers = EntryPoints(
        EntryPoint(name, f"{name}_benchmarks:BENCHMARKS", registry.ENTRY_POINTS) for name in ("broken", "odd")
    )
    monkeypatch.setattr(registry, "entry_points", lambda group: offers.select(group=group))
    with pytest.warns(StrobeWarning) as told:
        assert "dlrm/ootb/inference/tiny-100k" in registry.everything()
    first, second = (str(one.message) for one in told)
    assert "entry point 'broken'" in first
    assert "No module named 'nothing_of_this_name'" in first
    assert "'odd'" in second
    registry.everything()  # said once, not at every look


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import os\nimport nothing_of_this_name\n", r"mine.py:2: cannot be imported: ModuleNotFoundError: No module"),
        ("x = (\n", r"mine.py:1: cannot be imported: SyntaxError: '\(' was never closed"),
        ("import sys\nsys.exit(3)\n", r"mine.py:2: cannot be imported: SystemExit: 3"),
    ],
)
def test_a_file_that_cannot_be_imported(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    for _ in range(2):
        with pytest.raises(UsageError, match=complaint):
            registry.find([str(path)])


def test_a_package_that_declares_a_key_again_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "from dataclasses import replace\nfrom strobe.bench.registry import builtin\n"
    (tmp_path / "again_benchmarks.py").write_text(f"{text}BENCHMARKS = [replace(builtin()[0], owner='somebody')]\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    offers = EntryPoints([EntryPoint("again", "again_benchmarks:BENCHMARKS", registry.ENTRY_POINTS)])
    monkeypatch.setattr(registry, "entry_points", lambda group: offers.select(group=group))
    key = registry.builtin()[0].key
    with pytest.warns(StrobeWarning, match=f"left out: {key} of again_benchmarks is declared by somebody else already"):
        assert registry.everything()[key].owner == "strobe"
