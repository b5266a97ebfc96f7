"""Fills a home for the tests of the workspace: `python fill_workspace.py SET…`. Numbers are the same every time."""

from __future__ import annotations

import math
import random
import sys
import time

import strobe


def lab() -> None:
    """Eight runs: two optimizers, four seeds; one is long, one goes NaN, one has a very long name."""
    for number in range(8):
        rng = random.Random(number)
        name = (
            f"trial-{number}"
            if number != 5
            else "a trial with a name that is much longer than the list is wide, as happens"
        )
        config = {"lr": [0.1, 0.01][number % 2], "opt": {"name": "adam" if number < 4 else "sgd"}, "seed": number % 4}
        run = strobe.init(project="lab", id=f"r{number}", name=name, config=config, tags=["lab"])
        for step in range(5000 if number == 0 else 120):
            loss = 2 * math.exp(-step / 40) + 0.1 * rng.random()
            if number == 6 and step >= 100:
                loss = math.nan
            row = {"train/loss": loss, "train/acc": 1 - loss / 3, "tokens": step * 1024}
            if step % 10 == 0:
                row["val/loss"] = loss + 0.1
            run.log(row, step=step)
        run.finish()


def many() -> None:
    """More runs than one page of the list."""
    for number in range(230):
        run = strobe.init(project="many", name=f"m{number:03d}", config={"seed": number})
        run.log({"loss": 1.0 / (number + 1)}, step=0)
        run.finish()


def huge() -> None:
    """A run that diverged."""
    run = strobe.init(project="huge", name="diverged")
    for step in range(50):
        run.log({"loss": 10.0**step, "other": -1e300 * step}, step=step)
    run.finish()


def silent() -> None:
    """A run without any metric."""
    strobe.init(project="silent", name="quiet one").finish()


def stream() -> None:
    """A run that goes on until somebody ends it."""
    run = strobe.init(project="live", id="now", name="streaming")
    step = 0
    while True:
        run.log({"loss": 1.0 / (1 + step)}, step=step)
        step += 1
        time.sleep(0.1)


SETS = {"lab": lab, "many": many, "silent": silent, "huge": huge, "stream": stream}

if __name__ == "__main__":
    for name in sys.argv[1:]:
        SETS[name]()
