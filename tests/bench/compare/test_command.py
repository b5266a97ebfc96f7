"""`strobe bench compare` and `history`: what they print, and their exit codes for gates."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import msgspec
import pytest

from strobe.api.client import Api
from strobe.bench import machine, records
from strobe.bench.compare import remeasure
from strobe.bench.compare.remeasure import Code, can_remeasure, checked_out, measure_row
from strobe.bench.records import Record, Repeat, append_records, make_id, read_records
from strobe.bench.roofline import Peaks, store_at
from strobe.bench.unfinished import read_results
from strobe.cli import main
from strobe.cli.bench_confirm import measuring
from strobe.cli.bench_gate import gate
from strobe.cli.render import Screen
from strobe.errors import MissingExtra, UsageError
from strobe.home import Home
from tests.bench.known_peaks import know_peaks
from tests.bench.results import ELSEWHERE, HERE, result, wrong


def _write(path: Path, speed: float, n: int = 10, **fields: object) -> Path:
    rng = random.Random(1)
    samples = [100 * speed * math.exp(rng.gauss(0, 0.005)) for _ in range(n)]
    append_records(path, [msgspec.structs.replace(result(samples), **fields)])
    return path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return _write(tmp_path / "a.jsonl", 1.0)


@pytest.mark.parametrize(
    ("speed", "options", "code"), [(1.5, [], 0), (0.5, [], 1), (1.0, [], 0), (1.0, ["--strict"], 3)]
)
def test_exit_codes(base: Path, tmp_path: Path, speed: float, options: list[str], code: int) -> None:
    other = _write(tmp_path / "b.jsonl", speed)
    assert main(["bench", "compare", str(base), str(other), *options, "--home", str(tmp_path)]) == code


def test_a_wrong_result_fails_the_gate(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = _write(tmp_path / "b.jsonl", 3.0, correctness=wrong())
    assert main(["bench", "compare", str(base), str(other), "--home", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "incorrect" in printed
    assert "faster" not in printed


def test_two_machines_need_a_word(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = _write(tmp_path / "b.jsonl", 0.5, environment=ELSEWHERE)
    words = ["bench", "compare", str(base), str(other), "--home", str(tmp_path)]
    assert main(words) == 2
    assert "--systems" in capsys.readouterr().err
    assert main([*words, "--systems"]) == 0
    printed = capsys.readouterr().out
    assert "here" in printed
    assert "elsewhere" in printed


@pytest.mark.parametrize(
    ("fields", "options", "code"),
    [
        ({}, ["--strict"], 0),
        ({"correctness": wrong()}, [], 1),
        ({"samples": (), "error": "killed"}, [], 1),
        ({"samples": (50.0,)}, [], 0),
        ({"samples": (50.0,)}, ["--strict"], 3),
    ],
)
def test_a_system_may_be_slower_but_not_wrong(
    base: Path, tmp_path: Path, fields: dict[str, object], options: list[str], code: int
) -> None:
    other = _write(tmp_path / "b.jsonl", 0.5, 10, **{"environment": ELSEWHERE, **fields})
    assert main(["bench", "compare", str(base), str(other), "--systems", *options, "--home", str(tmp_path)]) == code


def test_of_results_of_two_machines_those_of_this_one_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, speed in zip(paths, (1.0, 3.0), strict=True):
        _write(path, speed, environment=machine.describe())
        _write(path, 1.0 / speed, environment=ELSEWHERE, benchmark="toy/ootb/inference/other")
    words = ["bench", "compare", *map(str, paths), "--home", str(tmp_path)]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert "1 row)" in captured.out
    assert "not compared: toy/ootb/inference/other B=8: measured on another machine (elsewhere)" in captured.err
    for path in paths:
        _write(path, 1.0, environment=HERE, benchmark="toy/ootb/inference/third")
        path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))  # none is of this machine now
    assert main(words) == 2
    assert "both measured on elsewhere, here, and none is this machine; choose one" in capsys.readouterr().err
    assert main([*words, "--machine", "elsewhere", "--json"]) == 1
    assert _only_row(json.loads(capsys.readouterr().out))["benchmark"] == "toy/ootb/inference/other"
    assert main([*words, "--machine", HERE.fingerprint[:6], "--json"]) == 0
    assert _only_row(json.loads(capsys.readouterr().out))["benchmark"] == "toy/ootb/inference/third"
    assert main([*words, "--machine", "moon"]) == 2
    assert (
        "no result is of a machine called 'moon'; there are: "
        f"elsewhere ({ELSEWHERE.fingerprint}), here ({HERE.fingerprint})" in capsys.readouterr().err
    )
    assert main([*words, "--machine", "here", "--systems"]) == 2


def test_the_noise_floor_knows_the_sessions_of_the_files_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in CI, where the home is empty and the history is in the file of the base."""
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for number in range(6):
        _write(a, 1.0 + 0.001 * number, id=f"{number:04}")
    _write(b, 1.1, environment=msgspec.structs.replace(HERE, git_commit="beef"))
    home = tmp_path / "bench" / "results.jsonl"
    home.parent.mkdir()
    home.write_bytes(a.read_bytes())  # what both have is one result
    assert main(["bench", "compare", str(a), str(b), "--json", "--home", str(tmp_path)]) == 0
    twice = _only_row(json.loads(capsys.readouterr().out))
    home.unlink()
    assert main(["bench", "compare", str(a), str(b), "--json", "--home", str(tmp_path)]) == 0
    once = _only_row(json.loads(capsys.readouterr().out))
    assert (once["verdict"], once["noise_source"], once["noise_sessions"]) == ("faster", "history", 7)
    assert once["noise_floor"] == twice["noise_floor"]


def test_sessions_of_the_home_are_the_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "bench" / "results.jsonl"
    for day, speed in ((1, 1.0), (2, 2.0)):
        began = msgspec.structs.replace(HERE, started_at=f"2026-11-{day:02}T00:00:00+00:00")
        _write(results, speed, environment=began)
    assert main(["bench", "compare", "--json", "--home", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"][0]["verdict"] == "faster"
    assert found["rows"][0]["speedup"] == pytest.approx(2.0)


def test_a_comment_for_a_pull_request(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = _write(tmp_path / "b.jsonl", 0.5)
    main(["bench", "compare", str(base), str(other), "--markdown", "--home", str(tmp_path)])
    assert capsys.readouterr().out.startswith("### Benchmarks: worse\n")


def test_nothing_in_common_is_a_mistake(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = _write(tmp_path / "b.jsonl", 1.0, batch_size=99)
    assert main(["bench", "compare", str(base), str(other), "--home", str(tmp_path)]) == 2
    assert "no row in common" in capsys.readouterr().err


def test_the_self_test_says_what_it_proved(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "compare", "--self-test", "--trials", "20"]) == 0
    assert "kept: identical code" in capsys.readouterr().out


@pytest.mark.parametrize("number", ["19", "0", "-1"])
def test_a_self_test_of_too_few_trials_is_a_mistake(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "compare", "--self-test", "--trials", number]) == 2
    assert f"--trials is 20 or more, got {number}: so few cannot break a promise" in capsys.readouterr().err


@pytest.mark.parametrize("percent", ["-1", "nan"])
def test_a_threshold_is_a_number_that_is_not_negative(
    base: Path, percent: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "compare", str(base), str(base), f"--threshold={percent}"]) == 2
    assert "--threshold is not negative" in capsys.readouterr().err


@pytest.mark.parametrize(("levels", "code"), [([1.0, 0.8], 1), ([1.0, 1.0], 0), ([1.0, 1.2], 0)])
def test_history(
    levels: list[float],
    code: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "160")  # else the steps are cut off
    results = tmp_path / "results.jsonl"
    for number in range(12):
        place = msgspec.structs.replace(HERE, git_commit=f"{number:08}")
        speed = levels[number // 6] * (1 + 0.002 * (number % 3))
        _write(results, speed, environment=place, id=f"{number:04}")
    assert main(["bench", "history", "--results", str(results)]) == code
    printed = capsys.readouterr().out
    assert ("00000005..00000006" in printed) == (levels[0] != levels[1])
    assert ("-20.0 %" in printed) == (code == 1)
    assert main(["bench", "history", "toy", "--json", "--results", str(results)]) == code
    (series,) = json.loads(capsys.readouterr().out)["series"]
    assert len(series["points"]) == 12
    assert main(["bench", "history", "nothing", "--results", str(results)]) == 2


BENCHMARK = """
import time
import product
from strobe.bench.spec import Benchmark
from strobe.bench.workload import Correctness, Work

class Wait:
    def __init__(self, tolerance): ...
    def setup(self, batch_size, seed, device, threads): ...
    def compile(self): ...
    def step(self, index):
        time.sleep(product.COST_S)
        return index
    def work(self):
        return Work(examples=1.0, flops=1.0, bytes=1.0)
    def reference(self, index):
        return index
    def check(self, output, reference):
        return Correctness(is_correct=output == reference, error=0.0, max_error=0.0, tolerance=0.1, reference="itself")


BENCHMARKS = [
    Benchmark(
        model="Wait", implementation="OOTB", mode="Inference", config="short", version=1, owner="me", units="ex/s",
        batch_sizes=(1,), max_batch=1, tier="smoke", workload="bench_wait.py:Wait",
    )
]
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's repository with a benchmark of its own; its second commit takes twice the time."""
    root = tmp_path / "repository"
    root.mkdir()

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True, capture_output=True
        )

    git("init", "--quiet")
    (root / "bench_wait.py").write_text(BENCHMARK)
    for number, cost_s in enumerate((0.010, 0.020)):
        (root / "product.py").write_text(f"COST_S = {cost_s}\n")
        git("add", ".")
        git("commit", "--quiet", "-m", str(number))
        git("tag", f"v{number}")
    monkeypatch.chdir(root)
    monkeypatch.setenv("STROBE_HOME", str(tmp_path / "home"))
    know_peaks(tmp_path / "home")
    return root


RUN = ["bench", "run", "bench_wait.py", "--repeats", "1", "--seconds", "0.05", "--no-track", "--quiet"]


def _run(results: Path) -> None:
    subprocess.run([sys.executable, "-m", "strobe", *RUN, "--results", str(results)], check=True)


@pytest.mark.slow
def test_a_benchmark_of_one_s_own_is_compared_across_a_change_of_what_it_measures(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / f"{number}.jsonl" for number in range(3)]
    _run(paths[0])
    (repository / "product.py").write_text("COST_S = 0.015\n")
    _run(paths[1])
    assert main(["bench", "compare", *map(str, paths[:2]), "--json"]) == 0
    assert _only_row(json.loads(capsys.readouterr().out))["speedup"] == pytest.approx(20 / 15, rel=0.2)
    # Once it is sealed, the modules beside it are part of what its version promises.
    assert main(["bench", "check", "--file", "bench_wait.py", "--update"]) == 0
    _run(paths[2])
    assert main(["bench", "compare", *map(str, paths[1:])]) == 2
    assert "its code or data changed without a new version" in capsys.readouterr().err


@pytest.mark.slow
def test_a_row_is_measured_again_at_another_commit(repository: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    _run(results)
    (record,) = read_records(results)
    with checked_out("v0", repository) as code:
        faster = measure_row(record, 1, code, tmp_path / "home")
    slower = measure_row(record, 1, Code(python=sys.executable), tmp_path / "home")
    assert faster.samples[0] > 1.4 * slower.samples[0]
    assert not list(repository.parent.glob("strobe-bench-*"))


_BUSY = """#!{python}
# As `strobe bench run` of any commit asks for the machine's peaks, on a machine that is never quiet.
import json, os, sys
from pathlib import Path
home = sys.argv[sys.argv.index("--home") + 1] if "--home" in sys.argv else os.environ["STROBE_HOME"]
path = Path(home, "bench", "peaks.json")
known = json.loads(path.read_text()) if path.exists() else {{}}
if "system" not in known or known["system"].get("noisy"):
    with open({log!r}, "a") as log:
        log.write("probed\\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({{"system": {{"flops": {{}}, "bytes_per_s": 1.0, "noisy": ["steal 12 %"]}}}}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("are_known", [True, False])
def test_on_a_busy_machine_its_peaks_are_not_measured_before_every_repeat(
    are_known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That takes some ten seconds each time, and older commits cannot be told anything new."""
    log, python = tmp_path / "log", tmp_path / "python"
    log.touch()
    python.write_text(_BUSY.format(python=sys.executable, log=str(log)))
    python.chmod(0o755)
    home = tmp_path / "home"
    monkeypatch.setenv("STROBE_HOME", str(home))
    noisy = Peaks(flops={}, bytes_per_s=1.0, noisy=("steal 12 %",))
    if are_known:
        store_at(home).write("system", noisy)
    args = Namespace(code_a=str(python), code_b=str(python), results=tmp_path / "kept.jsonl", no_track=True)
    a, b = (result([1.0], command=RERUN) for _ in range(2))
    with measuring(args, [(a, b)], Screen()) as (measure, _):
        for _ in range(2):
            measure("A", a, 1)
            measure("B", b, 1)
    assert len(log.read_text().splitlines()) == (0 if are_known else 1)
    assert store_at(home).read("system") == (noisy if are_known else None)


@pytest.mark.parametrize("fault", ["text", "directory"])
def test_peaks_that_cannot_be_read_cost_no_confirmation(fault: str, tmp_path: Path) -> None:
    path = tmp_path / "bench" / "peaks.json"
    path.parent.mkdir()
    path.mkdir() if fault == "directory" else path.write_text("nothing")
    with remeasure.borrowed_home(tmp_path) as home:
        assert store_at(home).read("system") is None


@pytest.mark.slow
def test_code_past_the_checkout_is_an_error_of_the_row(repository: Path, tmp_path: Path) -> None:
    """As with an installed package that comes first: what lies there is not to be taken for an older commit."""
    results = tmp_path / "results.jsonl"
    _run(results)
    (record,) = read_records(results)
    old, new = (remeasure.commit_of(tag) or "" for tag in ("v0", "v1"))
    found = measure_row(record, 1, Code(root=repository, checkout=repository, commit=old), tmp_path / "home")
    assert found.error == f"measured again it ran commit {new[:10]}, not {old[:10]}"
    assert (
        measure_row(record, 1, Code(root=repository, checkout=repository, commit=new), tmp_path / "home").error is None
    )


@pytest.mark.slow
def test_what_cannot_be_measured_again_is_an_error_of_the_row(repository: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    _run(results)
    (record,) = read_records(results)
    (repository / "bench_wait.py").unlink()
    assert "no result (exit code 2)" in (measure_row(record, 1, Code(), tmp_path / "home").error or "")
    with pytest.raises(UsageError, match="'nothing' cannot be checked out"), checked_out("nothing", repository):
        pass


def _only_row(found: dict[str, list[dict[str, object]]]) -> dict[str, object]:
    (row,) = found["rows"]
    return row


@pytest.mark.long
@pytest.mark.timeout(600)
def test_confirm_finds_the_slower_commit(repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The whole way: two commits measured once, too seldom to tell; confirmed by real processes in turns."""
    paths = []
    for tag in ("v0", "v1"):
        subprocess.run(["git", "checkout", "--quiet", tag], cwd=repository, check=True)
        paths.append(tmp_path / f"{tag}.jsonl")
        _run(paths[-1])
    words = ["bench", "compare", *map(str, paths), "--json"]
    assert main(words) == 0
    assert _only_row(json.loads(capsys.readouterr().out))["verdict"] == "inconclusive"
    assert main([*words, "--confirm"]) == 1
    row = _only_row(json.loads(capsys.readouterr().out))
    assert row["verdict"] == "slower"
    assert row["speedup"] == pytest.approx(0.5, rel=0.1)
    a, b = read_records(tmp_path / "home" / "bench" / "results.jsonl")
    assert [one.environment.git_commit for one in (a, b)] == [remeasure.commit_of(tag) for tag in ("v0", "v1")]
    assert len(a.samples) == len(a.repeats) == len(b.samples) >= 10
    assert {run.id for run in Api(Home(tmp_path / "home")).runs("bench")} == {a.id, b.id}


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_step_of_the_history_is_confirmed(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Twelve sessions that nobody measured claim that v1 is slower; the code of both commits is asked, and agrees."""
    once = tmp_path / "once.jsonl"
    _run(once)
    (record,) = read_records(once)
    results = tmp_path / "results.jsonl"
    for number in range(12):
        tag, speed = ("v0", 100.0) if number < 6 else ("v1", 50.0)
        place = msgspec.structs.replace(record.environment, git_commit=tag)
        samples = (speed, speed * 1.001, speed * 1.002)
        append_records(
            results, [msgspec.structs.replace(record, id=f"{number:04}", samples=samples, environment=place)]
        )
    assert main(["bench", "history", "--confirm", "--json", "--results", str(results)]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["series"][0]["is_worse"]
    assert _only_row(found["confirmed"])["verdict"] == "slower"


def test_records_of_other_benchmarks_are_not_measured_again(tmp_path: Path) -> None:
    record: Record = result([1.0], command="strobe bench load --profile v1-empty")
    with pytest.raises(UsageError, match="only results of `strobe bench run`"):
        measure_row(record, 1, Code(), tmp_path / "home")


def test_a_command_that_is_none_cannot_be_repeated() -> None:
    """An older Strobe wrote the names of tests as they are, quotes included."""
    assert not can_remeasure(result([1.0], command="pytest tests/test_it.py::test_one[it's]"))
    assert can_remeasure(result([1.0], command="strobe bench run mine --batch 1"))


PYTEST = "pytest tests/test_it.py::test_one"


@pytest.mark.parametrize(
    ("commands", "told"),
    [
        ((PYTEST, "strobe bench load --profile v1-empty"), None),
        ((PYTEST, "strobe bench run two"), "2 rows inconclusive: --confirm measures 1 of them again, both"),
        (("strobe bench run one", "strobe bench run two"), "2 rows inconclusive: --confirm measures them again, both"),
    ],
)
def test_confirm_is_not_offered_for_rows_that_it_cannot_measure(
    commands: tuple[str, ...], told: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / f"{side}.jsonl" for side in "ab"]
    for path in paths:
        for number, command in enumerate(commands):
            name = f"toy/ootb/inference/{number}"
            _write(path, 1.0, benchmark=name, command=command, environment=machine.describe())
    words = ["bench", "compare", *map(str, paths), "--home", str(tmp_path)]
    assert main(words) == 0
    printed = capsys.readouterr().err
    assert told in printed if told else "--confirm measures" not in printed
    assert told or "2 rows inconclusive: more sessions of the same commit tell" in printed
    assert main([*words, "--systems"]) == 0
    assert "--confirm" not in capsys.readouterr().err


def test_confirm_is_not_offered_for_rows_of_another_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [_write(tmp_path / f"{side}.jsonl", 1.0, command=RERUN, environment=ELSEWHERE) for side in "ab"]
    assert main(["bench", "compare", *map(str, paths), "--home", str(tmp_path)]) == 0
    assert "1 row inconclusive: more sessions of the same commit tell" in capsys.readouterr().err


def test_two_systems_cannot_be_confirmed(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = _write(tmp_path / "b.jsonl", 1.0, environment=ELSEWHERE)
    words = ["bench", "compare", str(base), str(other), "--home", str(tmp_path), "--systems", "--confirm"]
    assert main(words) == 2
    assert "leave one of them out" in capsys.readouterr().err


RERUN = "strobe bench run toy/ootb/inference/one-fp32 --batch 8"


def test_rows_of_another_machine_are_not_measured_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [_write(tmp_path / f"{side}.jsonl", 1.0, command=RERUN) for side in "ab"]
    assert main(["bench", "compare", *map(str, paths), "--confirm", "--home", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert "one-fp32 B=8: measured on another machine; measure it again there" in captured.err
    assert "1 inconclusive" in captured.out


def test_an_imported_series_is_not_measured_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results.jsonl"
    for number in range(12):
        place = msgspec.structs.replace(HERE, git_commit=f"{number:08}")
        speed = 1.0 if number < 6 else 0.8
        _write(results, speed, environment=place, id=f"{number:04}", command=RERUN)
    assert main(["bench", "history", "--confirm", "--results", str(results)]) == 1
    assert "measured on another machine" in capsys.readouterr().err


def test_each_suspect_is_measured_at_its_own_commits(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows that got slower at different commits: four sides, two commits."""
    seen: list[tuple[str, str]] = []

    def remember(record: Record, repeats: int, code: Code, home: Path) -> Record:
        place = code.checkout or repository
        seen.append((record.id, (place / "product.py").read_text().strip()))
        return record

    # Only what each side would run is of interest here; that it runs is tested above.
    monkeypatch.setattr(remeasure, "measure_row", remember)

    def at(tag: str, name: str) -> Record:
        return result([1.0], id=name, environment=msgspec.structs.replace(HERE, git_commit=tag))

    sides = [(at("v0", "a1"), at("v1", "b1")), (at("v1", "a2"), at("v0", "b2")), (at("v1", "a3"), at("v1", "b3"))]
    args = Namespace(code_a=None, code_b=None, results=repository.parent / "kept.jsonl", no_track=True)
    with measuring(args, sides, Screen()) as (measure, _):
        for a, b in sides:
            measure("A", a, 1)
            measure("B", b, 1)
    old, new = "COST_S = 0.01", "COST_S = 0.02"
    assert seen == [("a1", old), ("b1", new), ("a2", new), ("b2", old), ("a3", new), ("b3", new)]


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_confirmation_that_is_ended_keeps_what_is_done_and_tidies_up(
    how: signal.Signals, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    num_calls = 0

    def measure(record: Record, repeats: int, code: Code, home: Path) -> Record:
        nonlocal num_calls
        num_calls += 1
        if num_calls == 4:
            os.kill(os.getpid(), how)
        return record

    monkeypatch.setattr(remeasure, "measure_row", measure)
    paths = []
    for tag in ("v0", "v1"):
        place = msgspec.structs.replace(machine.describe(), git_commit=remeasure.commit_of(tag) or "", is_dirty=False)
        paths.append(_write(tmp_path / f"{tag}.jsonl", 1.0, n=2, environment=place, command=RERUN))
    assert main(["bench", "compare", *map(str, paths), "--confirm", "--no-track"]) == 130
    kept = list(read_records(tmp_path / "home" / "bench" / "results.jsonl"))
    assert [len(one.samples) for one in kept] == [2, 4]  # A B, B and no A
    worktrees = subprocess.run(["git", "worktree", "list"], cwd=repository, check=True, capture_output=True, text=True)
    assert len(worktrees.stdout.splitlines()) == 1


def test_a_confirmation_that_is_killed_costs_no_repeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies on disk meanwhile is what would be kept in the end: both sides, each of its commit, once."""
    monkeypatch.setenv("STROBE_HOME", str(tmp_path))
    a, b = (result([1.0], environment=msgspec.structs.replace(HERE, git_commit=name), command=RERUN) for name in "ab")
    times = iter(range(1, 6))

    def measure_row(record: Record, repeats: int, code: Code, home: Path) -> Record:
        if (wall := float(next(times))) == 4.0:
            return msgspec.structs.replace(record, samples=(), error="killed")
        repeat = Repeat(wall_s=(wall,), cpu_s=(wall,))
        return msgspec.structs.replace(record, id=make_id(), samples=(1 / wall,), repeats=(repeat,))

    monkeypatch.setattr(remeasure, "measure_row", measure_row)
    killed, results = tmp_path / "killed" / "results.jsonl", tmp_path / "kept" / "results.jsonl"
    killed.parent.mkdir()
    args = Namespace(code_a=".", code_b=".", results=results, no_track=True)
    with measuring(args, [(a, b)], Screen()) as (measure, _):
        for _ in range(2):
            measure("A", a, 1)
            measure("B", b, 1)
        measure("A", a, 1)
        (left,) = results.parent.glob("*.unfinished")
        shutil.copy(left, killed.parent)
    kept = list(read_records(results))
    assert read_results(killed) == kept
    assert not list(results.parent.glob("*.unfinished"))
    assert [one.environment.git_commit for one in kept] == ["a", "b"]
    assert [(len(one.samples), len(one.repeats), one.error) for one in kept] == [(3, 3, None), (0, 1, "killed")]
    assert all(one.is_confirmation for one in kept)
    assert len({one.environment.started_at for one in kept}) == 1


def _alike(record: Record, repeats: int, code: Code, home: Path) -> Record:
    return record


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
def test_a_verdict_whose_repeats_cannot_be_kept_is_told(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(remeasure, "measure_row", _alike)
    paths = []
    for tag in ("v0", "v1"):
        place = msgspec.structs.replace(machine.describe(), git_commit=remeasure.commit_of(tag) or "", is_dirty=False)
        paths.append(_write(tmp_path / f"{tag}.jsonl", 1.0, n=2, environment=place, command=RERUN))
    assert main(["bench", "compare", *map(str, paths), "--confirm", "--results", "/dev/full"]) == 2
    captured = capsys.readouterr()
    assert "toy/ootb/inference/one-fp32" in captured.out
    assert "1 same" in captured.out
    assert "No space left on device" in captured.err


def test_who_has_nothing_to_measure_again_needs_no_room_for_it(tmp_path: Path) -> None:
    paths = [_write(tmp_path / f"{side}.jsonl", 1.0, command=RERUN) for side in "ab"]
    assert main(["bench", "compare", *map(str, paths), "--confirm", "--home", str(tmp_path)]) == 0
    assert not (tmp_path / "bench").exists()


def test_a_row_that_vanished_does_not_pass_a_strict_gate(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = _write(tmp_path / "b.jsonl", 2.0)
    words = ["bench", "compare", str(base), str(other), "--strict", "--home", str(tmp_path)]
    assert main(words) == 0
    append_records(other, [result([1.0], "toy/ootb/inference/new")])
    assert main(words) == 0
    append_records(base, [result([1.0], "toy/ootb/inference/gone")])
    assert main(words) == 3
    assert "not compared: toy/ootb/inference/gone B=8: only in A" in capsys.readouterr().err


def test_implementations_without_a_pair_are_a_mistake(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "compare", str(base), "--implementations"]) == 2
    assert "there is no Optimized row" in capsys.readouterr().err


def test_a_comment_leads_to_all_results(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = _write(tmp_path / "b.jsonl", 1.0)
    words = ["bench", "compare", str(base), str(other), "--markdown", "--home", str(tmp_path)]
    main([*words, "--link", "https://ci.example/1"])
    assert capsys.readouterr().out.endswith("[All results](https://ci.example/1)\n")
    main(words)
    assert "All results" not in capsys.readouterr().out


GATES = [["compare", "latest", "latest"], ["history"]]


@pytest.mark.parametrize("words", GATES)
def test_results_that_cannot_be_read_are_not_worse(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results.jsonl"
    results.write_text("no record\n")
    assert main(["bench", *words, "--results", str(results), "--home", str(tmp_path)]) == 2
    assert f"{results}:1: not a benchmark record" in capsys.readouterr().err


@pytest.mark.parametrize("words", GATES)
@pytest.mark.parametrize("problem", [MissingExtra("numpy is missing"), PermissionError(13, "not yours")])
def test_what_cannot_be_judged_is_not_worse(
    words: list[str],
    problem: Exception,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(path: Path) -> list[Record]:
        raise problem

    results = _write(tmp_path / "results.jsonl", 1.0)
    monkeypatch.setattr(records, "read_records", refuse)
    assert main(["bench", *words, "--results", str(results), "--home", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"strobe: {problem}\n"


def test_a_reader_that_has_seen_enough_is_no_mistake() -> None:
    @gate
    def command(args: Namespace) -> int:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        command(Namespace())
