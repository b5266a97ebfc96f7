"""v1-images: 10 parallel processes, each one run of 50 steps of 10 random images of 16 × 16 × 3."""

from __future__ import annotations

import importlib
import importlib.util
import random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from strobe.bench.load.worker.bench import Bench

NAME = "v1-images"
METRICS = {"time_load": ("s", "less", "Parallel performance logging images")}
OPTIONS: dict[str, float] = {"processes": 10, "steps": 50, "images": 10}
NEEDS = ("image",)

_SIDE = 16


def measure(bench: Bench) -> dict[str, float]:
    tracker = bench.tracker
    steps, num_images = bench.option("steps"), bench.option("images")
    tracker.setup()
    if importlib.util.find_spec("numpy"):  # where images come from: loaded before a tracker is asked to log them
        importlib.import_module("numpy")

    def work(number: int) -> None:
        rng = random.Random(number)
        run = tracker.start()
        for _ in range(steps):
            pixels = [rng.randbytes(_SIDE * _SIDE * 3) for _ in range(num_images)]
            run.log({f"i_{index}": tracker.image(blob, _SIDE, _SIDE) for index, blob in enumerate(pixels)})
        run.finish()

    start = bench.clock()
    bench.in_parallel(bench.option("processes"), work)
    return {"time_load": bench.clock() - start}
