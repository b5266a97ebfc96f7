"""A training script as users write them, with a bit of everything that can be logged: python trainer.py JOB.

A program of its own: it sees of Strobe only what `import strobe` gives. Its last line says, as JSON, what it noticed of
being tracked: how long its calls of log() took, and how long finish().
"""

from __future__ import annotations

import json
import math
import os
import random
import statistics
import sys
import time
from pathlib import Path
from typing import Any


class Job:
    """What the script is asked to do."""

    def __init__(self, text: str) -> None:
        asked: dict[str, Any] = json.loads(text)
        self.run_id: str = asked["run_id"]
        self.seed: int = asked["seed"]
        self.num_rows: int = asked["num_rows"]
        self.pause_s: float = asked["pause_s"]
        self.features: set[str] = set(asked["features"])
        self.resume: str | None = asked.get("resume")
        #: where its own files lie
        self.scratch = Path(asked["scratch"])


class JumpingClock:
    """A wall clock that somebody sets forth and back while the script runs."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._true = time.time_ns
        self._off_ns = 0

    def __call__(self) -> int:
        if self._rng.random() < 0.01:
            self._off_ns = self._rng.choice([-3600, -5, 0, 5, 3600, 86400]) * 10**9
        return self._true() + self._off_ns


class LazyArray:
    """A number that a device is still computing, as far as log() looks at it."""

    shape = ()
    dtype = "float64"

    def __init__(self, number: float, seconds: float) -> None:
        self._number = number
        self._there_at = time.monotonic() + seconds

    def is_ready(self) -> bool:
        return time.monotonic() >= self._there_at

    def block_until_ready(self) -> None:
        raise AssertionError("log() waited for the device")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy as np

        return np.asarray(self._number)


class Training:
    """The loop."""

    def __init__(self, job: Job, rng: random.Random) -> None:
        import strobe

        self._strobe = strobe
        self._job = job
        self._rng = rng
        self.log_s: list[float] = []
        self.run = strobe.init(
            project="p",
            id=job.run_id,
            resume=job.resume,
            name=f"name of {job.run_id}",
            config={"lr": 0.1, "deep": {"layers": [1, 2, 3]}},
            settings=strobe.Settings(save_requirements=False, disable_git=True, stats_interval_s=0.5),
        )
        self.run.define_metric("acc", summary="max")

    def train(self) -> None:
        job, run = self._job, self.run
        for number in range(job.num_rows):
            row = self._row(number)
            began = time.perf_counter()
            run.log(row)
            self.log_s.append(time.perf_counter() - began)
            if "console" in job.features:
                self._print(number)
            if "files" in job.features and number % 40 == 20:
                self._save(number)
            if "fork" in job.features and number == job.num_rows // 2:
                self._fork()
            if number % 60 == 30:
                run.config.update({"lr": 0.1 / (number + 1)}, allow_val_change=True)
                run.summary["by hand"] = number
                run.alert(f"alert {number}", "something happened")
            time.sleep(job.pause_s)

    def finish(self) -> float:
        began = time.monotonic()
        self.run.finish()
        return time.monotonic() - began

    def _row(self, number: int) -> dict[str, Any]:
        rng, features = self._rng, self._job.features
        row: dict[str, Any] = {"loss": rng.random(), "acc": number / 7}
        if number % 3 == 0:
            row["odd"] = rng.choice([math.nan, math.inf, -math.inf, 2**70, True, None, -0.0, 10**18 + 1])
            row["text"] = f"größer {number}"
        if number % 5 == 0:
            row["nested"] = {"a": rng.random(), "b": {"c": number}}
        if "deferred" in features and number % 4 == 0:
            row["later"] = LazyArray(rng.random(), rng.random() * 0.2)
        if "media" in features and number % 20 == 0:
            row["hist"] = self._strobe.Histogram([rng.random() for _ in range(50)])
            row["page"] = self._strobe.Html(f"<b>{number}</b>")
        return row

    def _print(self, number: int) -> None:
        print(f"\rrow {number}", end="" if number % 10 else "\n", flush=True)
        if number % 17 == 0:
            print(f"\x1b[31mwarning {number}\x1b[0m", file=sys.stderr)

    def _save(self, number: int) -> None:
        """Save a file that grows, one that stays, and one that is large enough to go in parts."""
        scratch = self._job.scratch
        growing = scratch / "growing.txt"
        with growing.open("a") as stream:
            stream.write(f"line {number}\n" * 100)
        self.run.save(str(growing), base_path=str(scratch), policy="live")
        steady = scratch / f"steady-{number}.bin"
        steady.write_bytes(self._rng.randbytes(600_000 if number % 80 == 20 else 5_000))
        self.run.save(str(steady), base_path=str(scratch), policy="now")
        if number % 80 == 20:
            artifact = self._strobe.Artifact("model", type="model", metadata={"number": number})
            artifact.add_file(str(steady), name="weights.bin")
            self.run.log_artifact(artifact)

    def _fork(self) -> None:
        pid = os.fork()
        if not pid:
            for number in range(50):
                self.run.log({"child": number}, step=number)
                time.sleep(0.005)
            os._exit(0)
        os.waitpid(pid, 0)


def main(text: str) -> None:
    job = Job(text)
    rng = random.Random(job.seed)
    job.scratch.mkdir(parents=True, exist_ok=True)
    if "clock" in job.features:
        time.time_ns = JumpingClock(random.Random(job.seed))
    training = Training(job, rng)
    training.train()
    finish_s = training.finish()
    noticed = {"log_s": statistics.median(training.log_s), "longest_s": max(training.log_s), "finish_s": finish_s}
    print()
    print(json.dumps({"num_rows": len(training.log_s), **noticed}))


if __name__ == "__main__":
    main(sys.argv[1])
