"""A training with the real wandb client, offline: run by the tests as a program, and once to make `golden/wandb`.

    python wandb_script.py DIRECTORY [--grow] [--kill]

Needs wandb and numpy. With `--grow` it logs a table that grows, too; with `--kill` the process ends by SIGKILL in the
middle, as on a node that is lost.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
import wave
from pathlib import Path
from typing import Any


def main() -> None:
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    os.environ.update(
        WANDB_MODE="offline",
        WANDB_SILENT="true",
        WANDB_DIR=str(directory),
        WANDB_DATA_DIR=str(directory / "data"),
        WANDB_CACHE_DIR=str(directory / "cache"),
        WANDB_CONFIG_DIR=str(directory / "config"),
    )
    import numpy as np
    import wandb

    run = wandb.init(
        id=os.environ.get("WANDB_TEST_ID"),
        project="digits",
        name="first name",
        group="sweep",
        job_type="train",
        tags=["a", "b"],
        notes="some notes",
        config={"lr": 0.1, "opt": {"name": "adam", "betas": [0.9, 0.99]}, "seed": 2**70},
        settings=wandb.Settings(
            x_stats_sampling_interval=0.2,
            console="wrap",
            x_save_requirements=False,
            x_executable="/usr/bin/python3",
            host="trainer",
            program="train.py",
            disable_git=True,
        ),
    )
    run.define_metric("epoch")
    run.define_metric("val/*", step_metric="epoch", summary="max")
    first = int(os.environ.get("WANDB_TEST_STEP", "0"))
    for step in range(first, first + 20):
        print("step", step)
        run.log(
            {
                "loss": 1 / (step + 1),
                "nested": {"a": step, "b": {"c": step * 2}},
                "nan": math.nan,
                "inf": math.inf,
                "minus": -math.inf,
                "text": "word",
                "flag": True,
                "none": None,
                "list": [1, 2.5],
            },
            step=step,
        )
    if "--kill" in sys.argv:
        for step in range(20, 500):
            run.log({"loss": 1 / (step + 1)}, step=step)
        time.sleep(2)  # the client's own process writes a moment later
        os.killpg(os.getpgid(0), signal.SIGKILL)
    run.log({"val/acc": 0.5, "epoch": 1})
    run.log({"val/acc": 0.25, "epoch": 2})
    image: Any = np.zeros((8, 8, 3), "u1")
    sound = directory / "sound.wav"
    with wave.open(str(sound), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(200))
    run.log(
        {
            "image": wandb.Image(image, caption="black"),
            "images": [wandb.Image(image), wandb.Image(image + 1)],
            "histogram": wandb.Histogram([1, 2, 3, 4]),
            "table": wandb.Table(columns=["n", "word", "picture"], data=[[1, "x", wandb.Image(image)], [2, "y", None]]),
            "html": wandb.Html("<b>bold</b>"),
            "sound": wandb.Audio(str(sound)),
        }
    )
    table = wandb.Table(columns=["x", "y"], data=[[1, 2], [3, 4]])
    run.log({"chart": wandb.plot.line(table, "x", "y", title="A line")})
    growing = wandb.Table(columns=["n"], log_mode="INCREMENTAL")
    for number in range(3 if "--grow" in sys.argv else 0):
        growing.add_data(number)
        run.log({"growing": growing})
    run.log({"far": 1}, step=1000)
    run.summary["best"] = 7
    run.config.update({"late": 3, "opt": {"name": "sgd"}}, allow_val_change=True)
    run.name, run.tags = "second name", ("z",)
    kept = directory / "kept.txt"
    kept.write_text("kept")
    run.save(str(kept), base_path=str(directory))
    artifact = wandb.Artifact("dataset", type="dataset", metadata={"rows": 1})
    artifact.add_file(str(kept), name="data/kept.txt")
    run.log_artifact(artifact, aliases=["best"])
    run.alert("Look", "at this", level="WARN")
    print("the end")
    time.sleep(0.5)
    run.finish(exit_code=int(os.environ.get("WANDB_TEST_EXIT", "0")))


if __name__ == "__main__":
    main()
