"""The log: turns over, also as stderr; a repeated fault fills no disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from strobe.agent.log import Log


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """Where the log goes; stderr is given back afterwards."""
    saved = os.dup(2)
    yield tmp_path / "a.log"
    os.dup2(saved, 2)
    os.close(saved)


def test_lines_have_time_and_pid(path: Path) -> None:
    Log(str(path)).write("hello")
    assert path.read_text().endswith(f" {os.getpid()} hello\n")


def test_what_others_write_to_stderr_lands_there_too(path: Path) -> None:
    Log(str(path))
    os.write(2, b"Fatal Python error\n")
    assert path.read_text() == "Fatal Python error\n"


def test_it_turns_over_once(path: Path) -> None:
    log = Log(str(path), max_bytes=500)
    for number in range(100):
        log.write(f"line {number}")
    assert sorted(os.listdir(path.parent)) == ["a.log", "a.log.1"]
    assert path.stat().st_size < 600
    assert "line 99" in path.read_text()


def test_ever_new_faults_are_forgotten_in_time(path: Path) -> None:
    log = Log(str(path))
    for number in range(250):
        try:
            raise ValueError(number)
        except ValueError:
            log.exception("trying")
    assert log.num_errors == 250
    assert len(log._seen) <= 100
