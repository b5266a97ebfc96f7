"""The real tqdm, whose bars write over themselves: its last state and every line are recorded, nothing floods."""

from __future__ import annotations

import pytest

from strobe.home import Home
from strobe.journal.event import Console
from strobe.journal.screen import render
from tests.sdk.scripts import execute, only_replay

SCRIPT = """
import time
import strobe
from tqdm import tqdm
run = strobe.init(project="p", settings={"console": "%s"})
print("before")
for number in tqdm(range(400), desc="train", mininterval=0, miniters=1, ascii=True, ncols=60):
    run.log({"x": number})
    if number == 200:
        tqdm.write("in the middle")
print("after")
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["wrap", "redirect"])
def test_bars_and_lines_are_recorded_and_still_shown(home: Home, mode: str) -> None:
    done = execute(SCRIPT % mode, home)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "before\nin the middle\nafter\n"
    assert "train: 100%" in done.stderr
    said = list(only_replay(home).console())
    assert lines(said, "stdout") == ["before", "in the middle", "after"]
    bars = [line for line in lines(said, "stderr") if line.strip()]
    assert len(bars) == 1, "the bar is one line, however often it was drawn"
    assert bars[0].startswith("train: 100%")
    assert "400/400" in bars[0]
    assert len([event for event in said if event.stream == "stderr"]) < 50, "400 states of the bar do not flood"


def lines(said: list[Console], stream: str) -> list[str]:
    return render([event.text for event in said if event.stream == stream])
