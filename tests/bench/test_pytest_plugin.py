"""The fixture `strobe_bench`, in a real pytest of its own."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from strobe.api.client import Api
from strobe.bench import table
from strobe.bench.history import trace
from strobe.bench.records import read_records
from strobe.home import Home

#: an installation made before the entry point was declared does not load the plugin by itself
IS_INSTALLED = any(one.name == "strobe_bench" for one in entry_points(group="pytest11"))
PLUGIN = [] if IS_INSTALLED else ["-p", "strobe.bench.pytest_plugin"]

TESTS = """
import time

def add(one, other=1):
    return one + other

def test_result_is_passed_on(strobe_bench):
    assert strobe_bench(add, 2, other=3) == 5

def test_two(strobe_bench):
    strobe_bench(add, 1)
    strobe_bench(time.sleep, 0.002)
    assert [record.benchmark for record in strobe_bench.records] == ["test_it.py::test_two", "test_it.py::test_two #2"]

def test_without(): ...
"""


def _pytest(directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (directory / "test_it.py").write_text(TESTS)
    words = ["-m", "pytest", *PLUGIN, "--strobe-bench-seconds", "0.02", "-q", *options]
    return subprocess.run([sys.executable, *words], cwd=directory, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_results_are_recorded_and_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.jsonl"
    monkeypatch.setenv("STROBE_HOME", str(tmp_path / "home"))
    done = _pytest(tmp_path, "--strobe-bench-records", str(path))
    assert "3 passed" in done.stdout
    names = ["test_result_is_passed_on", "test_two", "test_two #2"]
    found = list(read_records(path))
    assert [record.benchmark for record in found] == [f"test_it.py::{name}" for name in names]
    add, _, sleep = found
    assert (add.metric, add.unit, add.better, add.subject) == ("wall", "s", "less", "pytest")
    assert add.repeats[0].inner_loops > 100
    assert sleep.repeats[0].inner_loops == 1
    assert min(sleep.samples) >= 0.002
    assert 1 < len(add.samples) <= 10
    assert sleep.environment.fingerprint
    assert "= strobe_bench =" in done.stdout
    assert not (tmp_path / "home").exists()
    assert "test_it.py::test_two #2: 2." in done.stdout


@pytest.mark.slow
def test_no_options_are_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_HOME", str(tmp_path / "home"))
    _pytest(tmp_path)
    records = list(read_records(tmp_path / "home" / "bench" / "results.jsonl"))
    assert [table.cells(record)[:5] for record in records] == [
        ("test_it.py", "pytest", "wall", name, "") for name in ("test_result_is_passed_on", "test_two", "test_two #2")
    ]
    runs = Api(Home(tmp_path / "home")).runs("bench")
    assert {run.id for run in runs} == {record.id for record in records}
    assert {run.job_type for run in runs} == {"bench"}


@pytest.mark.slow
def test_once_is_quick_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    done = _pytest(tmp_path, "--strobe-bench-records", str(path), "--strobe-bench-once", "-k", "passed_on or without")
    assert "2 passed" in done.stdout
    assert not path.exists()


FAILING = """
import pytest

@pytest.fixture
def tidy():
    yield
    raise OSError("cannot tidy up")

def test_wrong_in_the_end(strobe_bench):
    assert strobe_bench(len, "abc") == 4

def test_raises(strobe_bench):
    strobe_bench(int, "abc")

def test_tidying_up(tidy, strobe_bench):
    strobe_bench(len, "abc")

@pytest.mark.xfail
def test_expected(strobe_bench):
    assert strobe_bench(len, "abc") == 4

def test_that_a_call_raises(strobe_bench):
    with pytest.raises(ValueError):
        strobe_bench(int, "abc")
"""


@pytest.mark.slow
def test_no_time_of_a_failed_test_is_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_HOME", str(tmp_path / "home"))
    (tmp_path / "test_failing.py").write_text(FAILING)
    done = _pytest(tmp_path, "test_failing.py")
    assert "test_failing.py::test_raises: failed: the test failed: ValueError" in done.stdout
    found = {record.config: record for record in read_records(tmp_path / "home" / "bench" / "results.jsonl")}
    assert {name: (record.error or "").split(":")[1] for name, record in found.items()} == {
        "test_wrong_in_the_end": " AssertionError",
        "test_raises": " ValueError",
        "test_tidying_up": " OSError",
        "test_expected": " AssertionError",
    }
    assert not any(record.samples for record in found.values())
    assert {run.state for run in Api(Home(tmp_path / "home")).runs("bench")} == {"failed"}


@pytest.mark.slow
def test_a_test_that_skips_itself_after_measuring_has_not_failed(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    (tmp_path / "test_skipping.py").write_text(
        "import pytest\n"
        "import unittest\n"
        "@pytest.mark.parametrize('skipped', [pytest.skip.Exception, unittest.SkipTest])\n"
        "def test_it(strobe_bench, skipped):\n"
        "    strobe_bench(len, 'abc')\n"
        "    raise skipped('not here')\n"
    )
    done = _pytest(tmp_path, "test_skipping.py", "--strobe-bench-records", str(path))
    assert "2 skipped" in done.stdout
    assert "strobe_bench" not in done.stdout
    assert not path.exists()


#: of an environment that has Strobe and an older pytest or pluggy: what these lack
OLDER = {
    "pluggy 1.0": "hookimpl = pytest.hookimpl\n"
    "def old(f=None, hookwrapper=False, optionalhook=False, tryfirst=False, trylast=False, specname=None):\n"
    "    return hookimpl(f, hookwrapper, optionalhook, tryfirst, trylast, specname)\n"
    "pytest.hookimpl = old\n",
    "pytest 6": "del pytest.StashKey\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OLDER)
def test_an_older_pytest_is_left_to_run_its_tests(tmp_path: Path, name: str) -> None:
    (tmp_path / "older.py").write_text(f"import pytest\n{OLDER[name]}")
    (tmp_path / "test_plain.py").write_text("def test_it(): ...\n")
    words = ["-m", "pytest", "-W", "error", "-p", "older", "-p", "strobe.bench.pytest_plugin", "test_plain.py"]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # others may need a newer one
    done = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=alone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.slow
def test_tests_of_two_projects_are_two_rows_and_those_of_two_checkouts_are_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    for directory, project in (("one", "first"), ("two", "second"), ("checkout-of-one", "first")):
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "pyproject.toml").write_text(f"[project]\nname = '{project}'\n")
        _pytest(tmp_path / directory, f"--strobe-bench-records={path}", "-k", "passed_on")
    found = list(read_records(path))
    assert [record.model for record in found] == ["first/test_it.py", "second/test_it.py", "first/test_it.py"]
    assert found[0].benchmark == "first/test_it.py::test_result_is_passed_on"
    assert [len(series.records) for series in trace(found)] == [2, 1]


#: what pytest-rerunfailures does: the same item once more
RETRY = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    for _ in range(3):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(report.failed for report in reports):
            break
        item._initrequest()
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    return True
"""
FLAKY = """
import pytest

attempts = []

@pytest.fixture
def flaky():
    attempts.append("setup")
    if len(attempts) == 2:
        raise OSError("not yet")

def test_it(flaky, strobe_bench):
    strobe_bench(len, "abc")
    assert len(attempts) == 3
"""


@pytest.mark.slow
def test_a_test_that_passes_when_it_is_retried_has_passed(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    (tmp_path / "conftest.py").write_text(RETRY)
    (tmp_path / "test_flaky.py").write_text(FLAKY)
    done = _pytest(tmp_path, "test_flaky.py", "--strobe-bench-records", str(path))
    assert "1 passed" in done.stdout
    first, last = read_records(path)  # the second attempt came to no measurement
    assert (first.error or "").startswith("the test failed: AssertionError")
    assert last.error is None
    assert last.samples


@pytest.mark.slow
def test_workers_of_xdist_tell_the_summary(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    done = _pytest(tmp_path, "--strobe-bench-records", str(path), "-n", "2", "-k", "passed_on")
    assert "test_it.py::test_result_is_passed_on: " in done.stdout
    assert len(list(read_records(path))) == 1


@pytest.mark.slow
def test_workers_of_xdist_are_one_session(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    (tmp_path / "test_pair.py").write_text(
        "import time\n"
        "import pytest\n"
        "@pytest.mark.parametrize('wait_s', [0.0, 0.1])\n"
        "def test_it(strobe_bench, wait_s):\n"
        "    time.sleep(wait_s)  # a session's name is its moment\n"
        "    strobe_bench(len, 'abc')\n"
    )
    _pytest(tmp_path, "test_pair.py", "--strobe-bench-records", str(path), "-n", "2")
    found = list(read_records(path))
    assert len(found) == 2
    assert len({record.environment.started_at for record in found}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("-W", "error"), ("-n", "1")])
def test_a_home_that_cannot_be_written_does_not_end_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("STROBE_HOME", str(tmp_path / "file" / "home"))
    done = _pytest(tmp_path, *options)
    assert "3 passed" in done.stdout
    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert f"cannot write results to {tmp_path / 'file' / 'home' / 'bench' / 'results.jsonl'}: " in done.stdout
    assert "name a file by --strobe-bench-records" in done.stdout
    assert "test_it.py::test_two #2: 2." in done.stdout
    assert "(not recorded)" in done.stdout
    assert "recorded in" not in done.stdout


@pytest.mark.slow
def test_results_that_cannot_be_runs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("STROBE_HOME", str(home))
    # A disk that is full by then; that a home cannot be written at all is the run's own affair.
    (tmp_path / "conftest.py").write_text(
        "from strobe.bench import tracker\n"
        "def track(record, home):\n"
        "    raise OSError(28, 'No space left on device')\n"
        "tracker.track = track\n"
    )
    done = _pytest(tmp_path, "-W", "error")
    assert done.returncode == 0
    assert f"the results are written, but cannot be runs in {home}: [Errno 28] No space left" in done.stdout
    assert len(list(read_records(home / "bench" / "results.jsonl"))) == 3


@pytest.mark.slow
def test_settings_that_no_run_can_have_are_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("STROBE_HOME", str(home))
    monkeypatch.setenv("STROBE_MODE", "bogus")
    done = _pytest(tmp_path, "-W", "error")
    assert done.returncode == 0
    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert f"the results are written, but cannot be runs in {home}: " in done.stdout
    assert "bogus" in done.stdout
    assert len(list(read_records(home / "bench" / "results.jsonl"))) == 3


@pytest.mark.slow
def test_the_command_of_a_test_with_a_quote_in_its_name_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STROBE_HOME", str(tmp_path / "home"))
    path = tmp_path / "mine.jsonl"
    (tmp_path / "test_quote.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('text', [\"it's one\"])\n"
        "def test_it(strobe_bench, text):\n"
        "    strobe_bench(len, text)\n"
    )
    _pytest(tmp_path, "test_quote.py", "--strobe-bench-records", str(path))
    (record,) = read_records(path)
    test = f"{tmp_path / 'test_quote.py'}::test_it[it's one]"
    assert shlex.split(record.command) == ["pytest", test, "--strobe-bench-seconds", "0.02"]


@pytest.mark.slow
def test_the_command_of_a_test_measures_it_again_from_anywhere(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "mine.jsonl", tmp_path / "else where"
    elsewhere.mkdir()
    (tmp_path / "a b").mkdir()
    (tmp_path / "pytest.ini").touch()  # the root that names of tests begin at
    (tmp_path / "a b" / "test_sub.py").write_text(
        "import pytest\n"
        "@pytest.mark.parametrize('text', ['a//b'])\n"
        "def test_it(strobe_bench, text):\n"
        "    strobe_bench(len, text)\n"
    )
    _pytest(tmp_path, "a b/test_sub.py", "--strobe-bench-records", str(path))
    (first,) = read_records(path)
    words = [*shlex.split(first.command)[1:], *PLUGIN, "--strobe-bench-records", str(path)]
    subprocess.run([sys.executable, "-m", "pytest", *words], cwd=elsewhere, capture_output=True, check=True)
    _, again = read_records(path)
    assert (again.benchmark, again.command) == (first.benchmark, first.command)
