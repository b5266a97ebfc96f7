"""kill -9 at random moments, of the process or its whole group: no acknowledged row is ever lost.

The script acknowledges each row by writing its number to a pipe *after* log() returned. What was acknowledged when
the process died must be in the journal. Rounds are many and short; `make test-all` runs hundreds.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from strobe.home import Home
from tests.sdk.scripts import column, environment, only_replay

SCRIPT = """
import os, sys, time
import strobe
pause = float(sys.argv[1])
run = strobe.init(project="p")
step = 0
while True:
    run.log({"x": step, "y": 0.5, "text": "some text"})
    os.write(1, b"%d\\n" % step)
    step += 1
    if pause:
        time.sleep(pause)
"""


def kill_once(directory: Path, rng: random.Random, *, group: bool, pause: float) -> tuple[int, int]:
    """Start the script, kill it at a random moment, return (last acknowledged step, rows in the journal)."""
    directory.mkdir()
    home = Home(directory / "home")
    script = directory / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(script), str(pause)],
        env=environment(home),
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    fd = process.stdout.fileno()
    os.set_blocking(fd, False)
    acknowledged = first
    until = time.monotonic() + rng.uniform(0, 0.25)
    while time.monotonic() < until:
        acknowledged = (acknowledged + drain(fd))[-64:]
    (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
    acknowledged = (acknowledged + drain(fd))[-64:]
    process.stdout.close()
    last = int(acknowledged.split(b"\n")[-2])
    replay = only_replay(home)
    steps = column(replay, "x")
    assert steps == list(range(len(steps))), "rows are whole and in order"
    assert replay.state == "crashed"
    return last, len(steps)


def drain(fd: int) -> bytes:
    parts = []
    while True:
        try:
            part = os.read(fd, 1 << 20)
        except BlockingIOError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def rounds(tmp_path: Path, count: int) -> None:
    rng = random.Random(7)
    lost = 0
    for number in range(count):
        group, pause = number % 2 == 0, (0.0, 0.01)[number // 2 % 2]
        last, recorded = kill_once(tmp_path / str(number), rng, group=group, pause=pause)
        lost += max(0, last + 1 - recorded)
    assert lost == 0


@pytest.mark.slow
def test_no_acknowledged_row_is_lost(tmp_path: Path) -> None:
    rounds(tmp_path, 12)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_no_acknowledged_row_is_lost_over_two_hundred_kills(tmp_path: Path) -> None:
    rounds(tmp_path, 208)
