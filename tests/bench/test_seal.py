"""Seals: what breaks one, what does not, and that the suite's own are whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from strobe.bench import registry, seal
from strobe.bench.spec import Benchmark, Latency
from strobe.errors import Error
from tests.bench.declared import declare

SOURCE = '''"""A model."""


class Model:
    """It doubles."""

    def step(self, index: int) -> int:
        return 2 * index  # twice
'''


def _benchmark(path: Path, **fields: Any) -> Benchmark:
    return declare(f"{path}:Model", **fields)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(SOURCE)
    return path


def test_the_suite_is_what_it_was_sealed_as() -> None:
    """Fails after a change of a sealed source: raise the versions that it names, then `strobe bench check --update`."""
    seals = seal.read_seals()
    assert [str(one) for one in seal.find_broken(registry.builtin(), seals)] == []
    assert [one.key for one in seal.find_unsealed(registry.builtin(), seals)] == []


def test_a_file_that_was_never_sealed_promises_nothing_about_its_code(model: Path) -> None:
    one = _benchmark(model)
    before = seal.make_seal(one)
    assert not registry.sealed_keys([one])
    model.write_text(SOURCE.replace("2 * index", "index << 1"))
    assert seal.make_seal(one).text != before.text
    assert seal.make_seal(one).text_of_specification == before.text_of_specification
    assert seal.make_seal(replace(one, units="GB/s")).text_of_specification != before.text_of_specification
    seal.write_seals({one.key: before}, seal.seals_beside(model))
    assert registry.sealed_keys([one]) == {one.key}
    assert not registry.sealed_keys([replace(one, config="b")])  # a new one, which the seals do not name yet


def test_the_seals_are_beside_the_file_that_declares(model: Path, tmp_path: Path) -> None:
    """A workload may be of another file, or of a package."""
    one = declare("some.package:Model")
    declaring = tmp_path / "bench.py"
    seal.write_seals({one.key: seal.make_seal(_benchmark(model))}, seal.seals_beside(declaring))
    assert not registry.sealed_keys([one])
    assert registry.sealed_keys([one], [model, declaring])


def test_the_suite_is_sealed() -> None:
    assert registry.sealed_keys(registry.builtin()) == {one.key for one in registry.builtin()}


def test_a_changed_model_breaks_the_seal_and_is_named(model: Path) -> None:
    one = _benchmark(model)
    seals = {one.key: seal.make_seal(one)}
    model.write_text(SOURCE.replace("2 * index", "index << 1"))
    (broken,) = seal.find_broken([one], seals)
    assert str(broken) == "own/ootb/inference/a version 1: model.py changed"


def test_comments_and_docstrings_are_free(model: Path) -> None:
    one = _benchmark(model)
    before = seal.make_seal(one)
    changed = (
        SOURCE.replace("# twice", "# two times").replace("It doubles.", "It\n    doubles.").replace("A model", "B")
    )
    model.write_text(changed)
    assert seal.make_seal(one) == before


def test_a_changed_specification_breaks_it(model: Path) -> None:
    one = _benchmark(model)
    seals = {one.key: seal.make_seal(one)}
    for other in (
        replace(one, tolerance=0.5),
        replace(one, latency=Latency(limit_ms=1, percentile=99)),
        replace(one, parameters={"width": 2}),
        replace(one, max_batch=9),
    ):
        (broken,) = seal.find_broken([other], seals)
        assert broken.changed == ("specification",)


def test_who_answers_and_what_is_measured_by_default_is_not_sealed(model: Path) -> None:
    one = _benchmark(model)
    other = replace(one, owner="you", tier="full", batch_sizes=(1, 2))
    assert seal.make_seal(other) == seal.make_seal(one)


def test_a_new_version_needs_a_new_seal(model: Path) -> None:
    one = _benchmark(model)
    seals = {one.key: seal.make_seal(one)}
    model.write_text(SOURCE.replace("2 * index", "3 * index"))
    raised = _benchmark(model, version=2)
    assert seal.find_broken([raised], seals) == []
    assert seal.find_unsealed([raised], seals) == [raised]


def test_ootb_seals_model_and_data_and_optimized_what_it_shares_with_it() -> None:
    ootb = seal.make_seal(registry.find_one("regnety/ootb/inference/400MF-fp32")).parts
    package = "strobe.bench.workloads"
    assert {f"{package}.regnet.model", f"{package}.regnet.ootb", f"{package}.data.images", f"{package}.task"} < set(
        ootb
    )
    optimized = seal.make_seal(registry.find_one("regnety/optimized/inference/400MF-fp32")).parts
    assert f"{package}.regnet.optimized" not in optimized
    assert f"{package}.regnet.model" in optimized


#: what draws the data of each model; the model itself is `model` of its package
DATA = {
    "DLRM": ("dlrm", {"dlrm.data", "data.zipf"}),
    "XLM-R": ("xlmr", {"xlmr.data", "data.zipf"}),
    "CvT": ("cvt", {"data.labelled_images", "data.images"}),
    "OSCAR": ("oscar", {"oscar.data", "data.zipf"}),
    "RNN-T": ("rnnt", {"rnnt.data", "data.lengths"}),
    "ResNeXt3D": ("resnext3d", {"data.images"}),
    "RegNetY": ("regnet", {"data.labelled_images", "data.images"}),
}


def test_every_row_of_a_model_seals_its_source_and_its_data() -> None:
    """Also on several devices, where the model is named by a parameter only."""
    lacking = {}
    for one in registry.builtin():
        if one.implementation != "Micro":
            package, data = DATA[one.model]
            wanted = {f"strobe.bench.workloads.{name}" for name in (f"{package}.model", f"{package}.ootb", *data)}
            lacking[one.key] = wanted - set(seal.make_seal(one).parts)
    assert len(lacking) > 80
    assert {key: parts for key, parts in lacking.items() if parts} == {}


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The suite's sources, to be changed at will."""
    for name in ("*.py", "*.[ch]"):
        for source in seal._HERE.joinpath("workloads").rglob(name):
            place = tmp_path / source.relative_to(seal._HERE)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(source.read_bytes())
    monkeypatch.setattr(seal, "_HERE", tmp_path)
    return tmp_path / "workloads"


@pytest.mark.parametrize(
    ("key", "changed", "part"),
    [
        ("regnety/ootb/training/400MF.2dev-fp32", "regnet/model.py", "strobe.bench.workloads.regnet.model"),
        ("xlm-r/ootb/training/large-s64.8dev-fp32", "xlmr/data.py", "strobe.bench.workloads.xlmr.data"),
        ("dlrm/micro/mlp-linear/mlp_A-1024-fp32", "layers/fp32_linear.c", "fp32_linear.c"),
        ("dlrm/micro/mlp-linear/mlp_A-1024-fp32", "layers/lanes.h", "lanes.h"),
    ],
)
def test_what_a_row_runs_breaks_its_seal(copied: Path, key: str, changed: str, part: str) -> None:
    one = registry.find_one(key)
    seals = {key: seal.make_seal(one)}
    source = copied / changed
    text = source.read_text()
    is_python = source.suffix == ".py"
    source.write_text(text + ("\n# why\n" if is_python else "\n/* why\n * and how */ // not\n"))
    assert seal.find_broken([one], seals) == []
    source.write_text(text + ("\nMORE = 1\n" if is_python else "\nint more;\n"))
    (broken,) = seal.find_broken([one], seals)
    assert broken.changed == (part,)


def test_seals_survive_their_file(tmp_path: Path, model: Path) -> None:
    one = _benchmark(model)
    path = tmp_path / "seals.json"
    assert seal.read_seals(path) == {}
    seal.write_seals({one.key: seal.make_seal(one)}, path)
    assert seal.read_seals(path) == {one.key: seal.make_seal(one)}
    path.write_text("[]")
    with pytest.raises(Error, match="not a file of seals"):
        seal.read_seals(path)
