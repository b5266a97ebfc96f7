"""Event files by the real writers: run by the tests as a program, and once to make `golden/tensorboard`.

    python tensorboard_script.py DIRECTORY

Needs torch, tensorboard, tensorboardX and numpy.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

START = 1_700_000_000.0


def main() -> None:
    directory = Path(sys.argv[1])
    import numpy as np
    import tensorboardX
    from torch.utils.tensorboard import SummaryWriter

    picture: Any = np.zeros((3, 8, 8), "u1")
    with SummaryWriter(str(directory / "torch")) as writer:
        for step in range(20):
            writer.add_scalar("train/loss", 1 / (step + 1), step, walltime=START + step)
            writer.add_scalar("train/new", step * 2.0, step, walltime=START + step, new_style=True)
        writer.add_scalar("odd", math.nan, 0, walltime=START + 20)
        writer.add_scalar("odd", math.inf, 1, walltime=START + 20)
        writer.add_scalar("odd", -math.inf, 2, walltime=START + 20)
        writer.add_image("image", picture, 3, walltime=START + 21)
        writer.add_histogram("histogram", np.arange(100.0), 3, walltime=START + 21)
        writer.add_text("text", "hello **there**", 3, walltime=START + 21)
        writer.add_audio("audio", np.zeros((1, 100), "f4"), 3, sample_rate=8000, walltime=START + 21)
        writer.add_pr_curve("curve", np.array([0, 1, 1]), np.array([0.1, 0.6, 0.9]), 3, walltime=START + 21)
        writer.add_hparams({"lr": 0.1, "batch": 32, "opt": "adam"}, {"hp/acc": 0.5}, run_name="hp")
    # Started again from step 10: what came after it the first time is given up.
    with SummaryWriter(str(directory / "torch"), purge_step=10) as writer:
        for step in range(10, 15):
            writer.add_scalar("train/loss", 100.0 + step, step)
    with tensorboardX.SummaryWriter(str(directory / "x")) as writer:
        for step in range(5):
            writer.add_scalar("loss", step / 2, step, walltime=START + step)
        writer.add_histogram("histogram", np.arange(100.0), 4, walltime=START + 5)
        writer.add_image("image", picture, 4, walltime=START + 5)


if __name__ == "__main__":
    main()
