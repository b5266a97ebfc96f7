"""Fills a home with runs, as a user's program would: `python fill.py SET…`. Numbers are the same every time."""

from __future__ import annotations

import math
import random
import sys

import strobe


def vision() -> None:
    """Six runs of a small sweep; one failed, one has NaN."""
    for number in range(6):
        rng = random.Random(number)
        rate = [0.3, 0.1, 0.03][number % 3]
        config = {
            "lr": rate,
            "optimizer": {"name": "adamw" if number % 2 else "sgd", "weight_decay": 0.01 * number},
            "seed": number,
            "dataset": "cifar-10",
            "layers": [64, 128, 256],
        }
        run = strobe.init(project="vision", name=f"resnet-{number}", config=config, tags=["sweep", f"lr{rate}"])
        for step in range(300):
            loss = 2.3 * math.exp(-step * rate / 60) + 0.05 * rng.random()
            row = {"train/loss": loss, "train/acc": 1 - loss / 2.4, "lr": rate * (1 - step / 300)}
            if step % 10 == 0:
                row |= {"val/loss": loss * 1.1 + 0.02 * rng.random(), "val/acc": 0.98 - loss / 2.4}
            if number == 4 and step > 250:
                row["train/loss"] = math.nan
            run.log(row, step=step)
        run.finish(exit_code=1 if number == 3 else 0)


def language() -> None:
    """One run with a long name and many keys."""
    run = strobe.init(project="language-model-pretraining", name="a run with quite a long name, as people give them")
    for step in range(50):
        run.log({f"layer_{layer:02d}/grad_norm": math.sin(step / 9 + layer) for layer in range(24)}, step=step)
    run.finish()


def first() -> None:
    """What the empty state tells people to do."""
    run = strobe.init(project="first")
    run.log({"loss": 0.5})
    run.finish()


SETS = {"vision": vision, "language": language, "first": first}

if __name__ == "__main__":
    for name in sys.argv[1:]:
        SETS[name]()
