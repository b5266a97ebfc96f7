"""Settings about talking and waiting, byte for byte."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import strobe
from strobe.sdk import files

from .effect import Start, replay_of, shows

INFO = ["strobe: alert INFO: title: text"]
WARNING = ["strobe: WARNING save('nothing'): no file matches"]
ERROR = ["strobe: ERROR broken"]

Story = Callable[..., list[str]]


@pytest.fixture
def story(start: Start, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Story:
    """Run something that says one thing of each kind; return the lines, start line first and end block last."""
    monkeypatch.setenv("NO_COLOR", "1")

    def tell(**settings: Any) -> list[str]:
        capsys.readouterr()
        run = start(**{"silent": False, "project": "p", "run_name": "n", **settings})
        run.log({"x": 1})
        run.alert("title", "text")
        run.save("nothing", policy="now")
        strobe.termerror("broken")
        run.finish()
        out, err = capsys.readouterr()
        assert out == ""
        assert not err or err.endswith("\n")
        return err.splitlines()

    return tell


def start_line(lines: list[str]) -> bool:
    return bool(lines) and lines[0].startswith("strobe: n - p - ")


def end_block(lines: list[str]) -> bool:
    return any(line.startswith("strobe: n finished after ") for line in lines)


def test_by_default_everything_is_said(story: Story) -> None:
    lines = story()
    assert start_line(lines)
    assert end_block(lines)
    assert lines[1:4] == [*INFO, *WARNING, *ERROR]


@shows("silent")
def test_silent(story: Story) -> None:
    assert story(silent=True) == []
    assert story(silent=True, base_url="http://127.0.0.1:9", console="redirect") == []


@shows("quiet")
def test_quiet(story: Story) -> None:
    assert story(quiet=True) == [*WARNING, *ERROR]


@shows("show_info")
def test_show_info(story: Story) -> None:
    assert story(show_info=False) == [*WARNING, *ERROR]


@shows("show_warnings")
def test_show_warnings(story: Story) -> None:
    lines = story(show_warnings=False)
    assert lines[1:3] == [*INFO, *ERROR]
    assert end_block(lines)
    assert story(show_warnings=False, quiet=True) == ERROR


@shows("show_errors")
def test_show_errors(story: Story) -> None:
    lines = story(show_errors=False)
    assert lines[1:3] == [*INFO, *WARNING]
    assert end_block(lines)
    assert story(show_errors=False, quiet=True) == WARNING


@shows("show_emoji")
def test_show_emoji_changes_nothing(story: Story) -> None:
    assert "\n".join(story(show_emoji=True)).isascii()
    assert story(show_emoji=True, quiet=True) == story(show_emoji=False, quiet=True)


@shows("show_colors")
def test_show_colors(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[33mstrobe:\x1b[0m WARNING save('nothing'): no file matches" in story(show_colors=True)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in "".join(story())
    assert "\x1b[" not in "".join(story(show_colors=False))


@shows("init_timeout")
def test_init_timeout_changes_nothing(start: Start) -> None:
    run = start(init_timeout=0)
    run.log({"x": 1})
    assert replay_of(run).summary["x"] == 1


@shows("finish_timeout")
def test_finish_timeout(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gate = threading.Event()
    really = files._copy
    monkeypatch.setattr(files, "_copy", lambda *args: gate.wait(30) and really(*args))
    big = tmp_path / "big.bin"
    big.touch()
    os.truncate(big, 100 << 20)
    run = start(finish_timeout=0.05, silent=False, quiet=True)
    run.save(str(big), policy="now")
    began = time.monotonic()
    run.finish()
    assert time.monotonic() - began < 10
    gate.set()
    assert "not copied in time" in capsys.readouterr().err
    assert replay_of(run).state == "finished"


@shows("baseline")
def test_baseline(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    first = start()
    first.log({"loss": 2.0})
    first.finish()
    second = start(baseline=first.id, silent=False)
    second.log({"loss": 1.0})
    second.finish()
    assert re.search(r"\bloss .* -50 %", capsys.readouterr().err)


def test_a_baseline_that_is_not_there_is_told_and_nothing_more(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    run = start(baseline="nobody", silent=False)
    run.log({"loss": 1.0})
    run.finish()
    told = capsys.readouterr().err
    assert "no comparison with the baseline 'nobody'" in told
    assert "finished" in told
