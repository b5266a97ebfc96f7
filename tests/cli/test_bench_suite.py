"""`strobe bench list|check|run|table|rerun|peaks` on benchmarks of a user's own, in real worker processes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from argparse import Namespace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import msgspec
import pytest

from strobe.bench.compare.pairing import newest
from strobe.bench.records import append_records, read_records
from strobe.bench.registry import builtin, find_one
from strobe.bench.runner.options import Cell, Options
from strobe.bench.table import score_text
from strobe.cli import FAILURE, INTERRUPTED, OK, PARTIAL, USAGE, main
from strobe.cli.bench_peaks import known_peaks
from strobe.cli.bench_run import _print_pairs
from strobe.cli.render import Screen
from strobe.terminal import Terminal
from tests.bench.known_peaks import PEAKS, know_peaks
from tests.bench.publish import suite
from tests.bench.results import ELSEWHERE, HERE, latency, result, wrong

OWN = Path(__file__).parents[1] / "bench" / "own.py"
QUICK = ["--repeats", "1", "--seconds", "0.02", "--file", str(OWN)]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STROBE_HOME", str(tmp_path))
    know_peaks(tmp_path)
    return tmp_path


def _json(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_the_list_can_be_narrowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "list", "--tier", "smoke", "--json"]) == OK
    smoke = _json(capsys)
    assert {one["tier"] for one in smoke} == {"smoke"}
    assert main(["bench", "list", "own", "--file", str(OWN)]) == OK
    printed = capsys.readouterr().out
    assert "own/micro/test/Sleep" in printed
    assert "p90 11 ms" in printed


def test_check_of_a_file_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OWN.read_text())
    assert main(["bench", "check", "--file", str(path)]) == FAILURE
    captured = capsys.readouterr()
    assert "no seal: own/micro/test/Plain version 1" in captured.out
    assert f"`strobe bench check --file {path} --update` seals them" in captured.err
    assert main(["bench", "check", "--file", str(path), "--update"]) == OK
    assert re.search(r"0 changed, \d+ newly sealed", capsys.readouterr().err)
    assert main(["bench", "check", "--file", str(path)]) == OK
    path.write_text(OWN.read_text().replace("float(index)", "float(index) + 0"))
    capsys.readouterr()
    assert main(["bench", "check", "--file", str(path), "--update"]) == FAILURE
    told = f"mine.py changed; raise its version and `strobe bench check --file {path} --update`, or take"
    assert f"changed: own/micro/test/Plain version 1: {told}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["dlrn"],
        ["own/micro/test/Plain", "--file", str(OWN), "--batch", "9"],
        ["own/micro/test/Plain", "--file", str(OWN), "--repeats", "0"],
        ["own/micro/test/Plain", "--file", str(OWN), "--seconds", "nan"],
        ["own/micro/test/Plain", "--file", str(OWN), "--timeout", "inf"],
        ["own/micro/test/Plain", "--file", str(OWN), "--minutes", "nan"],
        ["own/micro/test/Plain", "--file", str(OWN), "--memory-limit", "0"],
        ["own/micro/test/Plain", "--file", str(OWN), "--memory-limit", "nan"],
        ["own/micro/test/Plain", "--file", str(OWN), "--device", "foo"],
        ["own/micro/test/Plain", "--file", str(OWN), "--pairs"],
        ["own/micro/test/Plain", "--file", str(OWN), "--results", "/"],
        ["own/micro/test/Plain", "--file", str(OWN), "--serving"],
        ["own/micro/test/Facts-2nodes", "--file", str(OWN), "--search", "--node", "1", "--master", "localhost:1"],
        ["nowhere.py"],
    ],
)
def test_mistakes_are_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "run", *arguments]) == USAGE
    assert capsys.readouterr().err.startswith("strobe: ")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["own/micro/test/Plain", "--node", "1"], "--node 1 needs --master HOST:PORT"),
        (["own/micro/test/Facts-2nodes", "--node", "-1", "--master", "localhost:1"], "--node counts from 0, got -1"),
        (["own/micro/test/Facts-2nodes", "--node", "2", "--master", "localhost:1"], "the last node is 1"),
    ],
)
def test_a_node_that_would_measure_nothing_is_refused(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "run", *arguments, *QUICK]) == USAGE
    assert reason in capsys.readouterr().err


def test_no_results_yet(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "table"]) == USAGE
    assert "`strobe bench run` makes some" in capsys.readouterr().err


@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_narrow_terminal_cuts_no_score_key_or_id(
    width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [msgspec.structs.replace(one, id=f"{one.id:>032}") for one in suite.with_card()]
    append_records(tmp_path / "bench" / "results.jsonl", records)
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["bench", "table"]) == OK
    printed, said = capsys.readouterr()
    lines = printed.splitlines()
    assert max(map(len, lines)) <= width
    for one in newest(records).values():
        shown = next(line for line in lines if line.endswith(one.id[-8:]))
        assert score_text(one) in shown
        assert any(line.lstrip().startswith(one.model) and one.config in line for line in lines)
    for name in ("Spread", "p99 ms", "Of peak"):
        assert name in printed or name in said
    # At 80 a row has two lines, and room for all.
    assert ("a wider terminal or --csv shows them" in said) == (width > 80)
    assert main(["bench", "compare", "13a7f3c9", "17a7f3c9"]) == OK
    compared = capsys.readouterr().out
    assert "dlrm/optimized/inference/tiny-100k-embed8-int8 B=512" in compared
    assert "inconclusive" in compared
    assert "…" not in compared.partition("geometric mean")[0]
    assert main(["bench", "list"]) == OK
    listed = capsys.readouterr().out
    assert all(one.key in listed for one in builtin())
    assert max(map(len, listed.splitlines())) <= width


def test_an_empty_file_of_results_is_none_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    assert main(["bench", "table", "--results", str(empty)]) == USAGE
    assert "`strobe bench run` makes some" in capsys.readouterr().err


def test_results_that_no_table_has_a_row_for_are_told_as_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "old.jsonl"
    append_records(old, [result([1.0], version=0)])
    for words in ([], ["--json"], ["toy"]):
        assert main(["bench", "table", "--results", str(old), *words]) == USAGE
        assert "no result that a table has a row for" in capsys.readouterr().err


def test_a_row_that_was_left_out_has_not_failed(capsys: pytest.CaptureFixture[str]) -> None:
    from strobe.bench.runner.process import Failure
    from strobe.bench.runner.session import Progress
    from strobe.cli.bench_progress import ProgressLine

    cell = Cell(find_one("dlrm/ootb/inference/tiny-100k"), 64)
    for text in ("not on this machine: needs CUDA", "killed"):
        progress = Progress(cell=cell, repeat=1, num_done=1, num_repeats=1, left_s=0.0, outcome=Failure(text))
        ProgressLine(Screen()).show(progress)
    said = capsys.readouterr().err.splitlines()
    assert said[0].endswith(": left out: not on this machine: needs CUDA")
    assert said[1].endswith(": failed: killed")


def test_the_overhead_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "run", "--overhead"]) == OK
    assert float(capsys.readouterr().out.split(" %")[0]) < 1.0


@pytest.mark.slow
def test_run_table_rerun(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "run", "own/micro/test/Plain", "own/micro/test/Sleep", *QUICK]) == OK
    captured = capsys.readouterr()
    assert "Model  Implementation  Mode  Config  Batch Size" in captured.out
    assert "2/2, about 0.0s left, own/micro/test/Sleep B=1 #1: " in captured.err
    plain, sleep = read_records(home / "bench" / "results.jsonl")
    assert (plain.config, sleep.config) == ("Plain", "Sleep")

    assert main(["run", "ls", "--json"]) == OK
    runs = _json(capsys)
    assert {run["id"] for run in runs} == {plain.id, sleep.id}

    assert main(["bench", "rerun", plain.id[-8:], "--json"]) == OK
    (again,) = _json(capsys)
    assert again["config"] == "Plain"
    assert again["command"] == plain.command
    assert again["id"] != plain.id

    assert main(["bench", "table", "--json"]) == OK
    assert {row["id"] for row in _json(capsys)} == {sleep.id, again["id"]}
    assert main(["bench", "table", "--all", "--csv"]) == OK
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["config"] for row in rows] == ["Plain", "Sleep", "Plain"]
    assert main(["bench", "table", "own/micro/test/Sleep", "--markdown"]) == OK
    assert f"`{sleep.command}`" in capsys.readouterr().out
    assert main(["bench", "table", "elsewhere"]) == USAGE
    assert main(["bench", "rerun", "nothing"]) == USAGE


@pytest.mark.slow
def test_failed_and_wrong_rows_are_told_and_make_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    keys = [f"own/micro/test/{name}" for name in ("Fails", "Wrong", "Plain")]
    assert main(["bench", "run", *keys, *QUICK, "-q"]) == PARTIAL
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "RuntimeError: the fifth step is one too many" in captured.out
    assert "! = the output is wrong" in captured.out
    assert main(["bench", "run", keys[0], *QUICK, "-q"]) == FAILURE


@pytest.mark.slow
def test_the_batch_that_fits_the_latency_limit_is_found(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # A step sleeps 2 ms per example and must take 11 ms; the machine may be slow, but no batch over 5 can make it.
    assert main(["bench", "run", "own/micro/test/Sleep", *QUICK, "--search", "--json"]) == OK
    captured = capsys.readouterr()
    (row,) = json.loads(captured.out)
    assert row["batch_size"] <= 5
    assert "own/micro/test/Sleep B=8: " in captured.err or row["batch_size"] < 4
    *trials, best = read_records(home / "bench" / "results.jsonl")
    assert best.id == row["id"]
    assert {1, row["batch_size"]} <= {trial.batch_size for trial in trials}
    # Trials are the curve's; what is compared is what was measured properly.
    assert all(trial.is_trial for trial in trials)
    assert not best.is_trial


def test_no_winner_of_a_search_misses_its_limit(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trial, of one process, cannot tell: with all repeats, only a batch of one is in time."""
    from strobe.bench.runner import session

    def measure(cells: list[Cell], options: Options, *, report: object, keep: Any) -> session.Results:
        (cell,) = cells
        is_late = options.repeats > 1 and cell.batch_size > 1
        judged = msgspec.structs.replace(latency("missed" if is_late else "undecided"), num_over=499 * is_late)
        record = result(
            [float(cell.batch_size)], cell.benchmark.key, batch_size=cell.batch_size, latency=judged, model="Own"
        )
        keep(record)
        return session.Results([record])

    monkeypatch.setattr(session, "measure", measure)
    words = ["own/micro/test/Sleep", "--file", str(OWN), "--search", "--json", "--no-track", "--repeats", "3"]
    assert main(["bench", "run", *words]) == OK
    captured = capsys.readouterr()
    (row,) = json.loads(captured.out)
    assert row["batch_size"] == 1
    assert "own/micro/test/Sleep B=4 instead of B=8, which with all repeats is late, wrong or failed" in captured.err
    assert "is shown" not in captured.err
    *trials, best = read_records(home / "bench" / "results.jsonl")
    assert (best.id, best.is_trial) == (row["id"], False)
    # What gave way is of the curve, too.
    sizes = [one.batch_size for one in trials if one.latency is not None and one.latency.status == "missed"]
    assert sizes == [8, 4, 2]
    assert all(trial.is_trial for trial in trials)


@pytest.mark.parametrize("is_interrupted", [False, True])
def test_where_no_batch_is_in_time_the_smallest_is_shown_and_told(
    is_interrupted: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from strobe.bench.runner import session

    def measure(cells: list[Cell], options: Options, **more: object) -> session.Results:
        (cell,) = cells
        late = latency("missed" if options.repeats > 1 else "met")
        record = result([float(cell.batch_size)], cell.benchmark.key, batch_size=cell.batch_size, latency=late)
        return session.Results([record], is_interrupted=is_interrupted and cell.batch_size == 4 and options.repeats > 1)

    monkeypatch.setattr(session, "measure", measure)
    words = ["own/micro/test/Sleep", "--file", str(OWN), "--search", "--json", "--no-track", "--repeats", "3"]
    assert main(["bench", "run", *words]) == (INTERRUPTED if is_interrupted else OK)
    captured = capsys.readouterr()
    (row,) = json.loads(captured.out)
    assert row["batch_size"] == (4 if is_interrupted else 1)
    assert ("the smallest, B=1, is shown" in captured.err) == (not is_interrupted)


@pytest.mark.slow
def test_optimized_is_measured_in_turns_with_ootb(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--repeats", "2", "--seconds", "0.05", "--file", str(OWN), "--pairs"]
    assert main(["bench", "run", "own/optimized/test/Nap-int8", *arguments]) == OK
    lines = capsys.readouterr().err.splitlines()
    turns = [line.split(", ")[2].split(":")[0] for line in lines if "left, own/" in line]
    assert turns == [
        *("own/ootb/test/Nap-fp32 B=1 #1", "own/optimized/test/Nap-int8 B=1 #1"),
        *("own/ootb/test/Nap-fp32 B=1 #2", "own/optimized/test/Nap-int8 B=1 #2"),
    ]
    assert any(re.match(r"own/optimized/test/Nap-int8 B=1: \d.\d\d× OOTB \(.* to .*\), n=2", line) for line in lines)


@pytest.mark.slow
def test_queries_that_come_at_random(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["bench", "run", "own/micro/test/Sleep", *QUICK, "--serving", "--batch", "2", "--json"])
    (row,) = _json(capsys)
    assert row["metric"] == "serving"
    assert row["command"].endswith(f"--serving --file {OWN}")
    # On a busy machine no rate may keep the limit, and then the row says so.
    assert code == (FAILURE if row["error"] else OK)
    if not row["error"]:
        assert 0 < row["score"] < 550
        assert row["latency_status"] == "met"


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from strobe.cli.bench_progress import ProgressLine

    def interrupt(line: ProgressLine, progress: Any) -> None:
        if progress.num_done == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressLine, "show", interrupt)
    assert main(["bench", "run", "own/micro/test/Plain", "own/micro/test/Sleep", *QUICK]) == INTERRUPTED
    assert "Plain" in capsys.readouterr().out
    assert [record.config for record in read_records(home / "bench" / "results.jsonl")] == ["Plain"]


class _Tty(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_the_bar_is_drawn_over_on_a_terminal() -> None:
    from strobe.bench.runner.session import Progress
    from strobe.cli.bench_progress import ProgressLine

    stream = _Tty()
    line = ProgressLine(Screen(), Terminal(stream, environ={"COLUMNS": "60", "TERM": "xterm"}))
    cell = Cell(find_one("dlrm/ootb/inference/tiny-100k"), 64)
    line.show(Progress(cell=cell, repeat=1, num_done=6, num_repeats=24, left_s=90.0))
    line.clear()
    assert stream.getvalue() == "\r\x1b[K█████░░░░░░░░░░░░░░░ 6/24, about 1m 30s left, dlrm/ootb/in…\r\x1b[K"


@pytest.mark.usefixtures("signals")
def test_a_lost_connection_is_taken_as_ctrl_c_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from strobe.bench.runner import session

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, lambda number, frame: None)
    told: list[str] = []

    def measure(*args: Any, **more: Any) -> session.Results:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGHUP)
        # As systemd does; these would interrupt the keeping of what is done.
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGHUP)
        told.append("kept")
        return session.Results([], is_interrupted=True)

    monkeypatch.setattr(session, "measure", measure)
    assert main(["bench", "run", "own/micro/test/Plain", *QUICK, "-q"]) == INTERRUPTED
    assert told == ["kept"]


@pytest.mark.usefixtures("signals")
def test_what_nohup_has_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    assert main(["bench", "run", "own/micro/test/Facts-2nodes", *QUICK, "-q"]) == OK
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
def test_what_cannot_be_kept_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "run", "own/micro/test/Facts-2nodes", *QUICK, "--results", "/dev/full"]) == FAILURE
    captured = capsys.readouterr()
    assert "Facts-2nodes" in captured.out
    assert "No space left on device" in captured.err


class _Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_reader_who_has_gone_ends_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    from strobe.bench.runner.process import Failure
    from strobe.bench.runner.session import Progress
    from strobe.cli.bench_progress import ProgressLine

    monkeypatch.setattr(sys, "stderr", _Closed())
    cell = Cell(find_one("dlrm/ootb/inference/tiny-100k"), 64)
    screen = Screen()
    ProgressLine(screen).show(
        Progress(cell=cell, repeat=1, num_done=1, num_repeats=1, left_s=0.0, outcome=Failure("no"))
    )
    screen.warn("nobody hears this")


@pytest.mark.parametrize("command", [["run"], ["run", "dlrm/ootb/inference/tiny-100k"], ["peaks"]])
def test_without_torch_the_suite_is_refused_before_a_row_fails(
    command: list[str], home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # as `import torch` finds it where it is not installed
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["bench", *command]) == FAILURE
    assert "need torch: pip install 'strobe[bench]'" in capsys.readouterr().err
    assert not (home / "bench" / "results.jsonl").exists()


@pytest.mark.parametrize("command", ["", "pytest tests/test_it.py", "strobe bench run 'unfinished"])
def test_what_no_command_measures_again_is_told_as_that(
    command: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    append_records(home / "bench" / "results.jsonl", [result([1.0], id="abc", command=command)])
    assert main(["bench", "rerun", "abc"]) == USAGE
    assert "abc was measured by another program" in capsys.readouterr().err


@pytest.mark.slow
def test_a_trial_that_is_measured_again_is_a_row_like_any(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One process's figure would take the place of the one that three have made."""
    command = f"strobe bench run own/micro/test/Plain --batch 1 --repeats 1 --seconds 0.02 --file {OWN}"
    append_records(home / "bench" / "results.jsonl", [result([1.0], id="abc", command=command, is_trial=True)])
    assert main(["bench", "rerun", "abc", "--json"]) == OK
    (again,) = _json(capsys)
    assert (again["is_trial"], again["repeats"]) == (False, 3)


def _without_numpy(*words: str) -> subprocess.CompletedProcess[str]:
    code = f"import sys; sys.modules['numpy'] = None; from strobe.cli import main; sys.exit(main({list(words)!r}))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("tracking", [[], ["--no-track"]])
def test_results_are_kept_without_numpy(home: Path, tracking: list[str]) -> None:
    done = _without_numpy("bench", "run", "own/micro/test/Plain", *QUICK, *tracking)
    assert done.returncode == OK, done.stderr
    assert len(list(read_records(home / "bench" / "results.jsonl"))) == 1
    assert "Plain" in _without_numpy("bench", "table").stdout
    for form in ([], ["--json"]):
        assert _without_numpy("bench", "history", *form).returncode == OK
    for words in (["compare", "latest", "latest"], ["run", "own", "--file", str(OWN), "--pairs"]):
        assert "needs numpy: pip install 'strobe[bench]'" in _without_numpy("bench", *words).stderr


def test_a_wrong_output_is_not_so_many_times_as_fast(capsys: pytest.CaptureFixture[str]) -> None:
    began = msgspec.structs.replace(HERE, started_at="2026-11-16T06:00:00+00:00")
    rows = [
        result([100.0, 101.0], environment=began),
        result([170.0, 171.0], "toy/optimized/inference/one-fp32", environment=began, correctness=wrong()),
        result([150.0, 151.0], "toy/optimized/inference/one-int8", environment=began),
    ]
    _print_pairs(rows, Screen())
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("toy/optimized/inference/one-fp32 B=8: incorrect: B is incorrect: error 0.5")
    assert second.startswith("toy/optimized/inference/one-int8 B=8: 1.50× OOTB (1.")


def test_a_row_that_is_not_compared_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    _print_pairs([result([1.0]), result([2.0], "toy/optimized/inference/one-int8", is_changed=True)], Screen())
    said = "toy/optimized/inference/one-int8 B=8: not compared with OOTB: its sealed code had changed"
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_what_changed_under_its_version_is_refused_or_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(OWN.read_text())
    words = ["bench", "run", "own/ootb/test/Nap-fp32", *QUICK[:4], "--file", str(path), "--json"]
    assert main(words) == OK  # a file without seals may change as it likes
    assert main(["bench", "check", "--file", str(path), "--update", "-q"]) == OK
    capsys.readouterr()
    assert main(words) == OK
    (row,) = _json(capsys)
    assert row["signs"] == ""
    path.write_text(OWN.read_text().replace("float(index)", "float(index) + 0"))
    assert main(words) == USAGE
    complaint = capsys.readouterr().err
    assert "own/ootb/test/Nap-fp32 version 1: mine.py changed; raise its version" in complaint
    assert "--changed" in complaint
    assert main([*words, "--changed"]) == OK
    (row,) = _json(capsys)
    assert row["signs"] == "#"
    assert row["command"].endswith(" --changed")
    # Other implementations are measured, with a warning, and marked.
    assert main([*(word.replace("ootb/test/Nap-fp32", "micro/test/Plain") for word in words)]) == OK
    (row,) = _json(capsys)
    assert row["signs"] == "#"


def test_machines_in_one_file_have_a_table_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "both.jsonl"
    append_records(path, [result([1.0], model="Toy"), result([2.0], model="Toy", environment=ELSEWHERE)])
    assert main(["bench", "table", "--results", str(path), "--json"]) == OK
    assert [row["score"] for row in _json(capsys)] == [1.0, 2.0]


@pytest.mark.frameworks
def test_rows_of_ones_own_have_their_part_of_the_peak(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    # Disturbed ones will do: who measures something short of his own does not wait for better ones each time.
    know_peaks(home, noisy=("steal 12 %",))
    assert main(["bench", "run", "own/micro/test/Plain", "--json", *QUICK]) == OK
    captured = capsys.readouterr()
    (row,) = json.loads(captured.out)
    assert row["roofline_fraction"] > 0
    assert "measuring the machine's peaks" not in captured.err
    assert captured.err.count("disturbed (steal 12 %)") == 1


def test_unknown_peaks_are_measured_for_rows_of_ones_own(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    (home / "bench" / "peaks.json").unlink()
    monkeypatch.setattr("strobe.bench.roofline.measure_peaks", lambda *words: PEAKS)
    cells = [Cell(find_one("own/micro/test/Plain", [OWN]), 1)]
    assert known_peaks(Namespace(home=None), cells, Options(), Screen()) == PEAKS


@pytest.mark.parametrize("noisy", [(), ("steal 12 %", "other processes used 40 % of the CPUs")])
def test_rooflines_of_peaks_that_were_disturbed_are_told(
    noisy: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The machine does better than they say: rows come nearer to them than they should."""
    pytest.importorskip("torch")
    peaks = msgspec.structs.replace(PEAKS, noisy=noisy)
    monkeypatch.setattr("strobe.cli.bench_peaks._find_peaks", lambda *words, **more: peaks)
    cells = [Cell(find_one("dlrm/ootb/inference/tiny-100k"), 64)]
    assert known_peaks(Namespace(home=None), cells, Options(), Screen()) == peaks
    told = "the peaks behind `of peak` were disturbed (steal 12 %, other processes used 40 % of the CPUs)"
    assert (told in capsys.readouterr().err) == bool(noisy)


def test_a_torch_that_no_installer_knows_has_peaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was built here, on Python's path: there is no metadata to take its version from."""
    pytest.importorskip("torch")

    def lack(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", lack)
    monkeypatch.setattr("strobe.bench.roofline.measure_peaks", lambda *words: PEAKS)
    cells = [Cell(find_one("dlrm/ootb/inference/tiny-100k"), 64)]
    assert known_peaks(Namespace(home=None), cells, Options(), Screen()) == PEAKS


def test_peaks_that_cannot_be_measured_cost_no_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    # A probe that fails: torch has no such card here.
    cells = [Cell(find_one("dlrm/ootb/inference/tiny-100k"), 64)]
    args = Namespace(home=None)
    assert known_peaks(args, cells, Options(python=sys.executable, device="cuda"), Screen()) is None
    assert "measured without rooflines" in capsys.readouterr().err
