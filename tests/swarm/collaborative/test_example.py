"""The example as a user runs it: processes that come, go and die, and one model in the end."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import strobe

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]

EXAMPLE = Path(__file__).parents[3] / "examples" / "collaborative_training.py"


# Half a minute on a machine of its own; four processes that load torch take longer on a busy one.
@pytest.mark.timeout(300)
def test_the_loss_falls_and_the_survivors_agree(tmp_path: Path) -> None:
    environ = {**os.environ, "STROBE_HOME": str(tmp_path), "STROBE_MODE": "offline"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--epochs", "6"], env=environ, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"epoch +(\d+) +loss ([\d.]+) +peers (\d)", done.stdout)
    losses = [float(loss) for _, loss, _ in lines]
    assert losses[-1] < losses[0] * 0.9, done.stdout
    came, killed = re.findall(r"one came in epoch (\d+), one was killed after epoch (\d+)", done.stdout)[0]
    assert 6 <= int(came) < int(killed)
    assert float(re.findall(r"that are left: ([\d.e+-]+)", done.stdout)[0]) < 1e-5, done.stdout
    [run] = strobe.Api(home=tmp_path).runs("collaborative-training")
    assert run.summary["epoch"] == int(killed) + 6
    assert run.summary["swarm/optimizer/rounds_ok"] > 6
    # Who came late has the state of this one or of the other: which, is left to chance.
    assert "swarm/optimizer/states_given" in run.summary
