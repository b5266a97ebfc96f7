"""`strobe bench history --confirm`: what its exit code says of rows that nobody could measure again."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import msgspec
import pytest

from strobe.bench.compare import remeasure
from strobe.bench.compare.remeasure import Code
from strobe.bench.machine import describe
from strobe.bench.records import Record, append_records, read_records
from strobe.cli import main
from strobe.errors import Error
from tests.bench.results import HERE, result

RERUN = "strobe bench run toy/ootb/inference/one-fp32 --batch 8"


def _write(path: Path, speed: float, **fields: object) -> None:
    rng = random.Random(1)
    samples = [100 * speed * math.exp(rng.gauss(0, 0.005)) for _ in range(10)]
    append_records(path, [msgspec.structs.replace(result(samples), **fields)])


def test_a_suspect_that_nobody_measures_again_is_not_cleared_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two rows got slower: the one of this machine turns out to be as fast as ever, the other is of another machine."""
    results = tmp_path / "results.jsonl"
    here = describe()
    for number in range(12):
        for name, environment in (("one", here), ("two", HERE)):
            place = msgspec.structs.replace(environment, git_commit=f"{number:08}")
            named = {"benchmark": f"toy/ootb/inference/{name}", "id": f"{number:04}-{name}", "command": RERUN}
            _write(results, 1.0 if number < 6 else 0.8, environment=place, **named)
    rng = random.Random(3)

    def measure_alike(record: Record, repeats: int, code: Code, home: Path) -> Record:
        return msgspec.structs.replace(record, samples=(100 * math.exp(rng.gauss(0, 0.001)),))

    monkeypatch.setattr(remeasure, "measure_row", measure_alike)
    words = ["bench", "history", "--confirm", "--code-a", ".", "--code-b", ".", "--results", str(results)]
    assert main([*words, "toy/ootb/inference/one"]) == 0
    assert main(words) == 1
    assert "two B=8: measured on another machine" in capsys.readouterr().err


def test_a_suspect_that_fails_when_measured_again_is_not_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results.jsonl"
    for number in range(12):
        speed = 1.0 if number < 6 else 0.8
        _write(results, speed, environment=describe(), id=f"{number:04}", command=RERUN)

    def fail(record: Record, repeats: int, code: Code, home: Path) -> Record:
        return msgspec.structs.replace(record, samples=(), error="it gave no result")

    monkeypatch.setattr(remeasure, "measure_row", fail)
    words = ["bench", "history", "--confirm", "--code-a", ".", "--code-b", ".", "--results", str(results)]
    assert main(words) == 1


def test_a_step_that_was_confirmed_is_shown_though_it_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.jsonl"
    for number in range(12):
        speed = 1.0 if number < 6 else 0.8
        _write(results, speed, environment=describe(), id=f"{number:04}", command=RERUN)

    def measure(record: Record, repeats: int, code: Code, home: Path) -> Record:
        return msgspec.structs.replace(record, samples=record.samples[:1])

    def fail(record: Record, home: Path) -> None:
        raise Error("no such server")

    monkeypatch.setattr(remeasure, "measure_row", measure)
    monkeypatch.setattr("strobe.bench.tracker.track", fail)
    words = ["bench", "history", "--confirm", "--code-a", ".", "--code-b", ".", "--results", str(results)]
    assert main(words) == 2
    captured = capsys.readouterr()
    assert "slower" in captured.out
    assert "no such server" in captured.err
    # What made no run is among the results, once, also after the next command has looked for what was left behind.
    assert main(["bench", "table", "--results", str(results)]) == 0
    assert sum(one.is_confirmation for one in read_records(results)) == 2


@pytest.mark.parametrize("percent", ["-1", "-100", "nan"])
def test_a_threshold_of_the_history_is_not_negative(
    tmp_path: Path, percent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.jsonl"
    _write(results, 1.0)
    assert main(["bench", "history", f"--threshold={percent}", "--results", str(results)]) == 2
    assert "--threshold is not negative" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "is_here", "is_offered"),
    [
        (RERUN, True, True),
        (RERUN, False, False),
        ("pytest tests/test_it.py::test_one", True, False),
    ],
)
def test_confirm_is_not_offered_for_what_it_cannot_measure(
    command: str, is_here: bool, is_offered: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.jsonl"
    for number in range(12):
        speed = 1.0 if number < 6 else 0.8
        _write(results, speed, id=f"{number:04}", command=command, environment=describe() if is_here else HERE)
    assert main(["bench", "history", "--results", str(results)]) == 1
    assert ("--confirm measures it again" in capsys.readouterr().err) == is_offered


def test_a_version_that_is_no_longer_measured_does_not_fail_the_gate_for_ever(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    results = tmp_path / "results.jsonl"
    for number in range(12):
        _write(results, 1.0 if number < 6 else 0.8, id=f"{number:04}")
    words = ["bench", "history", "--results", str(results)]
    assert main(words) == 1
    _write(results, 0.7, id="1000", version=2)
    capsys.readouterr()
    assert main(words) == 0
    printed = capsys.readouterr()
    assert "one-fp32 B=8 v1 (ended)" in printed.out
    assert "one-fp32 B=8 v2 " in printed.out
    assert "slower than at its best" not in printed.err
    assert main([*words, "--json"]) == 0
    old, new = json.loads(capsys.readouterr().out)["series"]
    assert [(one["version"], one["is_ended"], one["is_worse"]) for one in (old, new)] == [
        (1, True, False),
        (2, False, False),
    ]


@pytest.mark.parametrize("command", ["history", "table"])
@pytest.mark.parametrize("word", ["toy", "TOY/ootb/", "*/inference/*", "toy/ootb/inference/one-fp32", "test_it.py"])
def test_results_are_named_as_benchmarks_are(
    command: str, word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.jsonl"
    _write(results, 1.0)
    _write(results, 1.0, benchmark="test_it.py::test_parsing")
    assert main(["bench", command, word, "--results", str(results)]) == 0
    assert main(["bench", command, "nothing", "--results", str(results)]) == 2
    assert "no result of nothing in" in capsys.readouterr().err


def test_a_file_without_results_is_told_as_that(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (empty := tmp_path / "empty.jsonl").touch()
    for command in ("history", "table", "publish"):
        words = ["bench", command, *([str(tmp_path / "site")] if command == "publish" else []), "--results", str(empty)]
        assert main(words) == 2
        assert f"{empty}: no results yet" in capsys.readouterr().err
