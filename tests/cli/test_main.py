"""The frame: exit codes, typos, help, interrupts, pipes."""

from __future__ import annotations

import subprocess
import sys

import pytest

import strobe.cli as cli
from strobe import __version__
from strobe.cli.parser import GROUPS, available_groups
from strobe.errors import MissingExtra
from strobe.home import Home

from .conftest import Strobe


def test_version(strobe: Strobe) -> None:
    assert strobe("--version").out == f"strobe {__version__}\n"
    assert strobe("-V").code == 0


def test_help_names_every_group_that_is_there(strobe: Strobe) -> None:
    result = strobe("-h")
    assert result.code == 0
    for name in available_groups():
        assert f"    {name} " in result.out
    assert set(available_groups()) <= set(GROUPS)


def test_an_unknown_command_gets_the_nearest(strobe: Strobe) -> None:
    result = strobe("rnu")
    assert result.code == 2
    assert "did you mean `run`?" in result.err
    assert "did you mean `show`?" in strobe("run", "shwo").err
    assert "--state" in strobe("run", "ls", "--state", "finishd").err


def test_a_group_without_verb_prints_its_help_to_stderr(strobe: Strobe) -> None:
    result = strobe("run")
    assert result.code == 2
    assert result.out == ""
    assert "examples:" in result.err
    assert strobe().code == 2


def test_usage_errors_are_2_and_failures_1(strobe: Strobe, three: Home) -> None:
    assert strobe("run", "show", "a").code == 2
    missing = strobe("run", "show", "zz")
    assert missing.code == 1
    assert missing.err.startswith("strobe: no run 'zz'")
    assert missing.err.count("\n") == 1


def test_verbose_shows_the_traceback(strobe: Strobe, three: Home) -> None:
    assert "Traceback" in strobe("run", "show", "zz", "-v").err


def test_ctrl_c_is_130(strobe: Strobe, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("strobe.cli._dispatch", interrupted)
    assert strobe("run", "ls").code == 130


def test_a_missing_extra_is_one_line(strobe: Strobe, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(arguments: list[str]) -> int:
        raise MissingExtra("exporting Parquet needs pyarrow: pip install 'strobe[parquet]'")

    monkeypatch.setattr("strobe.cli._dispatch", without)
    result = strobe("run", "export", "x")
    assert (result.code, result.err.count("\n")) == (1, 1)


def test_a_disk_that_says_no_is_one_line(strobe: Strobe, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(arguments: list[str]) -> int:
        raise PermissionError(13, "Permission denied", "/somewhere")

    monkeypatch.setattr("strobe.cli._dispatch", denied)
    result = strobe("run", "ls")
    assert (result.code, result.err) == (1, "strobe: [Errno 13] Permission denied: '/somewhere'\n")


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_failure(three: Home) -> None:
    command = f"{sys.executable} -m strobe journal dump aa1 ab2 cc3 | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_terminal_without_unicode_is_no_failure(three: Home) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "strobe", "run", "show", "aa1"],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "STROBE_HOME": str(three.path)},
    )
    assert done.returncode == 0, done.stderr


def test_start_up_imports_nothing_heavy() -> None:
    code = (
        "import sys, strobe.cli.run; print([m for m in ('numpy', 'pandas', 'asyncio', 'psutil') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_exit_codes_are_those_documented() -> None:
    assert (cli.OK, cli.FAILURE, cli.USAGE, cli.PARTIAL) == (0, 1, 2, 3)
