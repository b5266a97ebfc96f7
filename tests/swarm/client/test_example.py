"""The example as a user runs it: three server processes, one killed, and the loss still falls."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import strobe

pytestmark = [pytest.mark.frameworks, pytest.mark.slow]

EXAMPLE = Path(__file__).parents[3] / "examples" / "mixture_of_experts.py"


# Half a minute on a machine of its own; five processes that load torch take longer on a busy one.
@pytest.mark.timeout(240)
def test_the_loss_falls_although_a_server_is_killed(tmp_path: Path) -> None:
    environ = {**os.environ, "STROBE_HOME": str(tmp_path), "STROBE_MODE": "offline"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--steps", "60"], env=environ, capture_output=True, text=True, timeout=220
    )
    assert done.returncode == 0, done.stderr
    lines = re.findall(r"step +(\d+) +loss ([\d.]+) +servers (\d) +failed (\d+)", done.stdout)
    losses = [float(loss) for _, loss, _, _ in lines]
    assert [int(alive) for _, _, alive, _ in lines] == [3, 3, 2, 2]
    assert losses[-1] < losses[0] * 0.7, done.stdout
    assert int(lines[-1][3]) > 0  # somebody did ask the dead one
    [run] = strobe.Api(home=tmp_path).runs("mixture-of-experts")
    assert run.summary["servers_alive"] == 2
    assert run.summary["swarm/experts/requests"] > 60
