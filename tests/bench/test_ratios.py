"""benchmarks/bench_ratios.py: which rows have bars, and what meets one."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from strobe.bench import registry
from strobe.bench.records import Record, Repeat, Roofline
from tests.bench.results import result, right, wrong


@pytest.fixture(scope="module")
def ratios() -> Iterator[ModuleType]:
    path = Path(__file__).parents[2] / "benchmarks" / "bench_ratios.py"
    spec = importlib.util.spec_from_file_location("bench_ratios", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for their module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def _records(key: str, speed: float, *, is_correct: bool = True, error: str | None = None) -> list[Record]:
    """An Optimized row so many times as fast as its OOTB row, three repeats each."""
    found = []
    for one in registry.with_partners([registry.find_one(key)]):
        is_fast = one.implementation == "Optimized"
        score = 100.0 * (speed if is_fast else 1.0)
        is_failed = error is not None and is_fast
        found.append(
            result(
                () if is_failed else (0.98 * score, score, 1.02 * score),
                one.key,
                unit=one.units,
                version=one.version,
                batch_size=one.batch_sizes[0],
                repeats=tuple(Repeat(wall_s=(1.0,), cpu_s=(1.0,)) for _ in range(3)),
                error=error if is_fast else None,
                correctness=right() if is_correct or not is_fast else wrong(),
            )
        )
    return found


def test_every_row_with_a_bar_exists_and_has_an_ootb_row(ratios: ModuleType) -> None:
    for key in [*(key for bar in ratios.INFERENCE for key in bar.keys), *ratios.TRAINING]:
        assert len(registry.with_partners([registry.find_one(key)])) == 2
    assert registry.find_one(ratios.LINEAR).units == "TF/s"
    assert registry.find_one(ratios.BAG).units == "GB/s"
    assert len({key.partition("/")[0] for key in ratios.TRAINING}) == 7


@pytest.mark.parametrize(
    ("speed", "verdict", "is_met"), [(2.0, "met", True), (1.51, "met, in doubt", True), (1.4, "MISSED", False)]
)
def test_a_bar_is_met_in_doubt_or_missed(ratios: ModuleType, speed: float, verdict: str, is_met: bool) -> None:
    key = "regnety/optimized/inference/400MF-fp32"
    line = next(one for one in ratios.judge(_records(key, speed)) if one.row == key)
    assert (line.value, line.verdict, line.is_met) == (f"{speed:.2f}", verdict, is_met)
    assert line.bounds.endswith("n=3")


def test_the_best_precision_counts(ratios: ModuleType) -> None:
    fp32, int8 = ratios.INFERENCE[6].keys
    line = ratios.judge([*_records(fp32, 1.1), *_records(int8, 1.6)], ["cvt"])[0]
    assert (line.row, line.value, line.is_met) == (int8, "1.60", True)


def test_what_is_wrong_or_failed_meets_nothing(ratios: ModuleType) -> None:
    key = "regnety/optimized/inference/400MF-int8"
    for records, reason in (
        (_records(key, 9.0, is_correct=False), "its output is wrong"),
        (_records(key, 9.0, error="killed by SIGKILL\nlines"), "killed by SIGKILL"),
    ):
        line = next(one for one in ratios.judge(records) if one.row == key)
        assert line.is_met is False
        assert reason in line.verdict


@pytest.mark.parametrize(("num_fast", "is_met"), [(4, True), (3, False)])
def test_training_must_be_faster_in_four_models(ratios: ModuleType, num_fast: int, is_met: bool) -> None:
    records = [
        record
        for number, key in enumerate(ratios.TRAINING)
        for record in _records(key, 1.3 if number < num_fast else 1.0)
    ]
    total = next(one for one in ratios.judge(records) if one.row.startswith("training of 7"))
    assert (total.value, total.is_met) == (str(num_fast), is_met)


def _linear(
    ratios: ModuleType, wall_s: tuple[float, ...] = (1.0, 1.0), fraction: float | None = 0.9, **fields: Any
) -> Record:
    roofline = fraction and Roofline(peak_flops=1.0, peak_bytes_per_s=1.0, fraction=fraction, bound="compute")
    repeats = (Repeat(wall_s=wall_s, cpu_s=()),)
    return result((), ratios.LINEAR, unit="TF/s", version=4, repeats=repeats, roofline=roofline or None, **fields)


@pytest.mark.parametrize(
    ("fraction", "best", "is_met"), [(0.72, "90 %", True), (0.64, "80 %", False), (None, "", False)]
)
def test_the_best_step_of_linear_layers_is_held_against_the_peak(
    ratios: ModuleType, fraction: float | None, best: str, is_met: bool
) -> None:
    record = _linear(ratios, (1.0, 1.25, 2.0), fraction)
    line = next(one for one in ratios.judge([record]) if one.row == ratios.LINEAR)
    assert line.value.startswith(best)
    assert line.is_met is is_met
    if fraction is not None:
        assert line.bounds == f"median {100 * fraction:.0f} %"


def test_a_wrong_linear_layer_meets_nothing(ratios: ModuleType) -> None:
    for correctness, is_met in ((right(), True), (wrong(), False)):
        lines = ratios.judge([_linear(ratios, correctness=correctness)], ["dlrm"])
        line = next(one for one in lines if one.row == ratios.LINEAR)
        assert line.is_met is is_met
        assert ("its output is wrong" in line.verdict) is not is_met


def test_bars_of_a_model_without_any_record_are_missed(ratios: ModuleType) -> None:
    """Its session may have died before it wrote one."""
    lines = ratios.judge([_linear(ratios)], ["dlrm", "regnety"])
    missed = {one.row: one.verdict for one in lines if one.is_met is False}
    assert "regnety/optimized/inference/400MF-fp32" in missed
    assert "regnety/optimized/inference/400MF-int8" in missed
    assert set(missed.values()) == {"MISSED: not measured"}
    assert not any(one.row.startswith("xlm-r") for one in lines)
    rows = {one.row: (one.verdict, one.is_met) for one in ratios.judge([], ["dlrm"])}
    assert rows[ratios.LINEAR] == ("no figure: not measured", False)
    assert rows[ratios.BAG] == ("no figure: not measured", None)


def test_training_that_was_not_measured_reaches_nothing(ratios: ModuleType) -> None:
    records = [record for key in ratios.TRAINING[:3] for record in _records(key, 1.3)]
    total = next(one for one in ratios.judge(records, ratios.MODELS) if one.row.startswith("training of"))
    assert (total.row.partition(",")[0], total.value, total.is_met) == ("training of 7 models", "3", False)


def test_a_row_that_is_left_out_says_why(ratios: ModuleType) -> None:
    key = "regnety/optimized/inference/400MF-fp32"
    changed = [msgspec.structs.replace(one, is_changed=True) for one in _records(key, 2.0)]
    line = next(one for one in ratios.judge(changed, ["regnety"]) if one.row == key)
    assert "sealed code had changed" in line.verdict


def test_a_model_that_is_misspelt_is_refused(
    ratios: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench_ratios.py", "--only", "regnety,dlmr"])
    monkeypatch.setattr(ratios, "measure", lambda models, options: pytest.fail("nothing is to be measured"))
    with pytest.raises(SystemExit) as left:
        ratios.main()
    assert left.value.code == 2
    assert "dlmr" in capsys.readouterr().err
