"""Benchmarks of a user's own, for the tests of the runner: each does one thing that a workload can do to a harness."""

from __future__ import annotations

import atexit
import gc
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from strobe.bench.spec import Benchmark, Latency
from strobe.bench.workload import Correctness, Work


class Plain:
    """Does nothing, rightly; the others differ in a method."""

    def __init__(self, tolerance: float, **parameters: Any) -> None:
        self.tolerance = tolerance
        self.parameters = parameters

    def setup(self, batch_size: int, seed: int, device: str, threads: int) -> None:
        self.batch_size, self.threads = batch_size, threads

    def compile(self) -> None:
        pass

    def step(self, index: int) -> Any:
        return float(index)

    def work(self) -> Work:
        return Work(examples=self.batch_size, flops=2e6, bytes=1e6)

    def reference(self, index: int) -> Any:
        return float(index)

    def check(self, output: Any, reference: Any) -> Correctness:
        error = abs(output - reference)
        return Correctness(
            is_correct=error <= self.tolerance,
            error=error,
            max_error=error,
            tolerance=self.tolerance,
            reference="counting",
        )


class Sleep(Plain):
    """A step takes so many milliseconds, and as many more for each example."""

    def compile(self) -> None:
        time.sleep(0.05)

    def step(self, index: int) -> float:
        time.sleep(1e-3 * self.parameters["ms"] * self.batch_size)
        return float(index)


class Product(Plain):
    """A matrix product by numpy."""

    def setup(self, batch_size: int, seed: int, device: str, threads: int) -> None:
        import numpy as np

        super().setup(batch_size, seed, device, threads)
        self.a = np.random.default_rng(seed).standard_normal((256, 256))

    def step(self, index: int) -> float:
        return float((self.a @ self.a).sum())

    def work(self) -> Work:
        return Work(examples=1, flops=2 * 256**3, bytes=3 * self.a.nbytes)

    def reference(self, index: int) -> float:
        return float(self.a.sum(0) @ self.a.sum(1))


class Wrong(Plain):
    """Gives the wrong answer."""

    def step(self, index: int) -> float:
        return index + 1.0


class Reuses(Plain):
    """Answers in the same place every time, and is right if it was measured before it is checked."""

    def setup(self, batch_size: int, seed: int, device: str, threads: int) -> None:
        super().setup(batch_size, seed, device, threads)
        self.place = [0.0]

    def step(self, index: int) -> list[float]:
        self.place[0] = float(index)
        return self.place

    def check(self, output: list[float], reference: float) -> Correctness:
        found = super().check(output[0], reference)
        return replace(found, is_correct=found.is_correct and self.place[0] > reference)


class NotANumber(Plain):
    """Gives no answer that could be compared."""

    def step(self, index: int) -> float:
        return float("nan")


class Fails(Plain):
    """Raises at a step."""

    def step(self, index: int) -> float:
        if index == 4:
            raise RuntimeError("the fifth step is one too many")
        return float(index)


class Hungry(Plain):
    """Takes ever more memory."""

    def step(self, index: int) -> float:
        self.eaten = [*getattr(self, "eaten", []), b"\1" * 100_000_000]
        return float(index)


class Hangs(Plain):
    """Never comes back."""

    def compile(self) -> None:
        time.sleep(3600)


class Dies(Plain):
    """Is killed from outside, as by the kernel when memory is short."""

    def compile(self) -> None:
        os.kill(os.getpid(), 9)


class Leaves(Plain):
    """Ends its process as if all were well."""

    def compile(self) -> None:
        print("what it said before it left", flush=True)
        os._exit(0)


class Lingers(Plain):
    """Leaves a thread behind that keeps its process from ending."""

    def compile(self) -> None:
        threading.Thread(target=time.sleep, args=(3600,)).start()


class Aborts(Plain):
    """Dies when all is done, as a library may whose threads outlive the interpreter."""

    def compile(self) -> None:
        atexit.register(os.abort)


class Boundless(Plain):
    """Does more work than there are numbers for."""

    def work(self) -> Work:
        return Work(examples=self.batch_size, flops=float("inf"), bytes=1e6)


class Crashes(Plain):
    """The second of two dies of a fault in its own code; the first waits for it."""

    def compile(self) -> None:
        if os.environ["RANK"] == "1":
            print("what the crashed one said", flush=True)
            os.kill(os.getpid(), 11)
        time.sleep(3600)


class Unlike(Plain):
    """One of two ranks raises, the other waits for it as in an exchange that never comes about."""

    def step(self, index: int) -> float:
        if index == 4:
            if os.environ["RANK"] == str(self.parameters["failing"]):
                raise RuntimeError("this rank has had enough")
            time.sleep(3600)
        return float(index)


class Errs(Plain):
    """Gives the wrong answer on one rank alone."""

    def step(self, index: int) -> float:
        return index + float(os.environ["RANK"] == str(self.parameters["wrong"]))


class Brood(Plain):
    """Leaves the eating to a child, which lives in a session of its own and would outlive its parents."""

    def compile(self) -> None:
        code = "import time; eaten = b'1' * 600_000_000; time.sleep(90)"
        child = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        Path(os.environ["CHILD"]).write_text(str(child.pid))
        time.sleep(3600)


class Facts(Plain):
    """Writes down what it was started with, and how many steps it has taken, one file per rank."""

    def step(self, index: int) -> float:
        self.num_steps, self.is_collecting = index + 1, gc.isenabled()
        return float(index)

    def work(self) -> Work:
        cpus = sorted(os.sched_getaffinity(0))
        facts = f"{os.getpid()} {self.num_steps} {cpus} {os.environ['OMP_NUM_THREADS']} {self.threads}"
        facts += f" {self.is_collecting}"
        Path(os.environ["FACTS"], f"rank-{os.environ.get('RANK', '0')}-{os.getpid()}").write_text(facts)
        return super().work()


_declare = partial(
    Benchmark, model="Own", implementation="Micro", mode="Test", version=1, owner="tests", tier="smoke", units="ex/s"
)
_one = partial(_declare, batch_sizes=(1,), max_batch=8)


def _of(workload: type[Plain], **more: Any) -> Benchmark:
    return _one(config=workload.__name__, workload=f"{__file__}:{workload.__name__}", **more)


BENCHMARKS = [
    _of(Plain),
    _of(Sleep, parameters={"ms": 2}, latency=Latency(limit_ms=11, percentile=90)),
    _declare(
        config="Product",
        units="TF/s",
        batch_sizes=(1,),
        max_batch=1,
        workload=f"{__file__}:Product",
        tolerance=1e-6,
    ),
    *(_of(workload) for workload in (Wrong, Reuses, NotANumber, Fails, Hungry, Hangs, Dies, Leaves, Boundless, Facts)),
    replace(_of(Sleep, parameters={"ms": 8}), implementation="OOTB", config="Nap-fp32"),
    replace(_of(Sleep, parameters={"ms": 2}), implementation="Optimized", config="Nap-int8", changes=("sleeps less",)),
    _one(config="Facts-2dev", workload=f"{__file__}:Facts", devices=2),
    _one(config="Facts-2nodes", workload=f"{__file__}:Facts", nodes=2),
    *(
        _one(config=f"Unlike-{rank}-2nodes", workload=f"{__file__}:Unlike", nodes=2, parameters={"failing": rank})
        for rank in range(2)
    ),
    _one(config="Errs-1-2nodes", workload=f"{__file__}:Errs", nodes=2, parameters={"wrong": 1}),
    replace(_of(Sleep, parameters={"ms": 5}, latency=Latency(limit_ms=200, percentile=99)), config="Serves"),
    *(_of(workload) for workload in (Brood, Lingers, Aborts)),
    _one(config="Fails-2dev", workload=f"{__file__}:Fails", devices=2),
    _one(config="Crashes-2dev", workload=f"{__file__}:Crashes", devices=2),
]
