"""What goes wrong in the parent while it measures costs the row that it befell, and no other."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from strobe.bench import registry
from strobe.bench.records import Repeat
from strobe.bench.runner import session
from strobe.bench.runner.message import Outcome
from strobe.bench.runner.options import Cell, Options
from strobe.bench.workload import Work

OWN = Path(__file__).parents[1] / "own.py"


def _cells(*configs: str) -> list[Cell]:
    return [Cell(registry.find_one(f"own/micro/test/{config}", [OWN]), 1) for config in configs]


def test_a_full_disk_is_a_row_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    (record,) = session.measure(_cells("Plain"), Options(repeats=2, files=(OWN,))).records
    assert record.error is not None
    assert record.error.startswith("FileNotFoundError: ")


def test_figures_that_cannot_be_worked_out_cost_no_other_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_repeat(cell: Cell, options: Options, *, is_checked: bool) -> Outcome:
        step_s = 0.0 if cell.benchmark.config == "Plain" else 2.0
        repeat = Repeat(wall_s=(step_s,), cpu_s=(step_s,))
        return Outcome(repeat=repeat, work=Work(examples=8, flops=0, bytes=0))

    monkeypatch.setattr(session, "run_repeat", run_repeat)
    plain, wrong = session.measure(_cells("Plain", "Wrong"), Options(repeats=1, files=(OWN,))).records
    assert plain.error == "no figures from what was measured: ZeroDivisionError: float division by zero"
    assert len(plain.repeats) == 1
    assert wrong.samples == (4.0,)


def test_a_benchmark_that_cannot_be_sealed_costs_no_other_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def run_repeat(cell: Cell, options: Options, *, is_checked: bool) -> Outcome:
        return Outcome(repeat=Repeat(wall_s=(2.0,), cpu_s=(2.0,)), work=Work(examples=8, flops=0, bytes=0))

    monkeypatch.setattr(session, "run_repeat", run_repeat)
    (plain,) = _cells("Plain")
    odd = Cell(replace(plain.benchmark, config="Odd", parameters={"sizes": {1, 2}}), 1)
    missing = Cell(replace(plain.benchmark, config="Missing", workload="no_such_package.module:Own"), 1)
    found = session.measure([odd, missing, plain], Options(repeats=1, files=(OWN,))).records
    assert [record.config for record in found] == ["Odd", "Missing", "Plain"]
    assert found[0].error == "cannot be sealed: TypeError: Object of type set is not JSON serializable"
    assert found[1].error == (
        "cannot be sealed: Error: no module 'no_such_package.module' that could be sealed; "
        "is the package that offers it installed?"
    )
    assert found[2].samples == (4.0,)
