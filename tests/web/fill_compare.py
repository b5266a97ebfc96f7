"""Fills a home with runs to be compared: `python fill_compare.py SET…`. Numbers are the same every time."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import strobe
from strobe.environment.facts import describe
from strobe.home import Home, RunPath
from strobe.journal import event
from strobe.server.local.home_parts import HomeEdits

PROMPT = "You are a helpful assistant who answers in {} and never in verse, however long the question may be."


def pair() -> None:
    """Two runs with long names and values, begun from different code."""
    with tempfile.TemporaryDirectory() as folder:
        repo = Path(folder)
        _git(repo, "init", "-q")
        lines = [f"line {number}" for number in range(40)]
        (repo / "train.py").write_text("\n".join(lines) + "\n")
        _git(repo, "add", ".")
        _git(repo, "-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-qm", "first")
        for number, language in enumerate(("English", "French")):
            lines[20] = f"learning_rate = {number}"
            (repo / "train.py").write_text("\n".join(lines) + "\n")
            config = {
                "lr": 0.1 * (number + 1),
                "model": {"width": 64, "depth": 4 + number, "act": "gelu"},
                "prompt": PROMPT.format(language),
                "a_key_with_a_name_that_is_much_longer_than_most": "a value that goes on and on " * 30 + str(number),
                "seed": number,
            }
            name = f"a-run-with-a-name-as-long-as-sweeps-make-them-lr=0.{number + 1}-depth={4 + number}"
            run = strobe.init(project="pair", name=name, config=config)
            for step in range(50):
                loss = 2 * math.exp(-step / 10) + 0.5 - 0.2 * number
                run.log({"train/loss": loss, "val/acc": 1 - loss / 3, "lr": 0.1, "spiky": math.sin(step)}, step=step)
            run.finish()
            facts = describe(repo, ["train.py"], [])
            facts["requirements"] = ["numpy==2.1.0", f"torch==2.{number}.0"]
            noted = event.Attributes(time_ns=time.time_ns(), changes=facts)
            home = Home(Path(os.environ["STROBE_HOME"]))
            HomeEdits(home).write(RunPath("local", "pair", run.id), [noted], now_ns=time.time_ns())


def sweep() -> None:
    """Forty runs in which the learning rate and the optimizer decide; one failed, one ended with NaN, one is empty."""
    for number in range(40):
        rng = random.Random(number)
        rate, name, width = 10 ** rng.uniform(-4, -1), rng.choice(["sgd", "adamw", "lion"]), rng.choice([64, 128, 256])
        config = {"lr": rate, "optimizer": {"name": name}, "model": {"width": width, "depth": rng.randint(2, 12)}}
        run = strobe.init(project="sweep", name=f"run-{number}", config={**config, "seed": number, "data": "cifar"})
        floor = 0.2 + 0.3 * abs(math.log10(rate) + 2.5) + (0.2 if name == "sgd" else 0)
        for step in range(0 if number == 7 else 30):
            loss = floor + 2 * math.exp(-step / 6) + 0.02 * rng.random()
            row = {"train/loss": math.nan if number == 3 and step > 25 else loss, "val/loss": loss * 1.1}
            run.log({**row, "val/acc": 1 - loss / 3}, step=step)
        run.finish(exit_code=1 if number == 5 else 0)


def _git(repo: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True)


SETS = {"pair": pair, "sweep": sweep}

if __name__ == "__main__":
    for name in sys.argv[1:]:
        SETS[name]()
