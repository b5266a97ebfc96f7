"""`strobe bench import`: results of a file become results and runs here, once; and what rerun says of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from strobe.bench.records import Record, append_records, read_records
from strobe.cli import OK, USAGE, main
from strobe.home import Home
from tests.bench.results import result


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("STROBE_HOME", str(tmp_path / "home"))
    return Home(tmp_path / "home")


def _import(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, int]:
    assert main(["bench", "import", "--json", *words]) == OK
    found: dict[str, int] = json.loads(capsys.readouterr().out)
    return found


def _ids(home: Home) -> tuple[set[str], set[str]]:
    results = {record.id for record in read_records(home.path / "bench" / "results.jsonl")}
    return results, {run_dir.run_path.id for run_dir in home.iter_runs(project="bench")}


def test_results_are_taken_in_once(home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "laptop.jsonl"
    old = Record(benchmark="load/v1-empty", subject="strobe", metric="time_load", unit="s")
    one, two = result([1.0, 2.0]), result([3.0, 4.0], "toy/ootb/inference/two-fp32")
    append_records(path, [old, one])
    assert _import(capsys, str(path)) == {"results": 1, "runs": 1, "known": 0, "left_out": 1}
    append_records(path, [two])
    assert _import(capsys, str(path), str(path)) == {"results": 1, "runs": 1, "known": 1, "left_out": 1}
    assert _import(capsys, str(path)) == {"results": 0, "runs": 0, "known": 2, "left_out": 1}
    assert _ids(home) == ({one.id, two.id}, {one.id, two.id})


def test_results_of_this_home_become_runs_later(home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.jsonl"
    one = result([1.0, 2.0])
    append_records(path, [one])
    assert _import(capsys, str(path), "--no-track") == {"results": 1, "runs": 0, "known": 0, "left_out": 0}
    own = home.path / "bench" / "results.jsonl"
    assert _import(capsys, str(own)) == {"results": 0, "runs": 1, "known": 1, "left_out": 0}
    assert _ids(home) == ({one.id}, {one.id})


def test_what_another_program_measured_is_not_run_again(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.jsonl"
    append_records(path, [result([1.0, 2.0], command="pytest tests/test_it.py::test_one")])
    (one,) = read_records(path)
    assert main(["bench", "rerun", one.id, "--results", str(path)]) == USAGE
    assert "this measures it again: pytest tests/test_it.py::test_one" in capsys.readouterr().err


def test_what_cannot_be_measured_again_stays_inconclusive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [tmp_path / f"{side}.jsonl" for side in "ab"]
    for path in paths:
        append_records(path, [result([1.0, 1.1, 0.9], command="pytest tests/test_it.py::test_one")])
    assert main(["bench", "compare", *map(str, paths), "--confirm"]) == OK
    captured = capsys.readouterr()
    assert "1 inconclusive" in captured.out
    assert "not measured again: toy/ootb/inference/one-fp32 B=8: not a result of `strobe bench run`" in captured.err
