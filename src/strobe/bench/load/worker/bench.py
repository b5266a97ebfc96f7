"""What a profile is handed: the tracker under test, the sizes chosen, and the tools to measure with.

Profiles import nothing of ours (they are loaded by path where Strobe is not installed), so all they
need hangs on this object.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import kill, process, rows, timing
from .protocol import Run, Tracker

_WARM_UP_CALLS = 50


class Bench:
    """One tracker under one load."""

    def __init__(
        self,
        *,
        tracker_class: type[Tracker],
        tracker_path: str,
        module: str,
        directory: str,
        mode: str,
        features: dict[str, str],
        options: dict[str, float],
    ) -> None:
        self._tracker_class = tracker_class
        self._mode = mode
        self._features = features
        self._options = options
        self.tracker_path = tracker_path
        self.module = module
        self.directory = directory
        self.tracker = self.tracker_in(directory)
        self.process = process
        self.clock = time.perf_counter

    def tracker_in(self, directory: str) -> Tracker:
        """Return the tracker recording into another directory."""
        os.makedirs(directory, exist_ok=True)
        return self._tracker_class(directory, self._mode, dict(self._features))

    def arrival(self) -> tuple[int, int]:
        """Online: return how many rows were recorded, and how many of them the server has."""
        found: tuple[int, int] = self.tracker.arrival()  # type: ignore[attr-defined]  # the runner has looked for it
        return found

    def option(self, name: str) -> int:
        """Return a size that the caller may choose; the profile's OPTIONS hold the defaults."""
        return int(self._options[name])

    def start(self) -> Run:
        """Set the tracker up and begin a run, both outside any timed region."""
        self.tracker.setup()
        return self.tracker.start()

    def in_parallel(self, count: int, work: Callable[[int], None]) -> None:
        """Run `work(number)` in `count` forked processes, after what the tracker wants done before a fork."""
        getattr(self.tracker, "before_fork", lambda: None)()
        process.run_in_parallel(count, work)

    # --- loads

    def row_builder(self, num_keys: int) -> Callable[[int], dict[str, float]]:
        return rows.row_builder(num_keys)

    def table_rows(self, num_rows: int, seed: int) -> list[list[Any]]:
        return rows.table_rows(num_rows, seed)

    @property
    def table_columns(self) -> tuple[str, ...]:
        return rows.TABLE_COLUMNS

    # --- measurements

    def log_cost(self, num_keys: int, *, calls: int, block: int = 100) -> dict[str, float]:
        """Measure log() of a row: `cpu` of the calling thread, wall `p50` and `p99`, all in seconds per call."""
        run = self.start()
        build = rows.row_builder(num_keys)
        for number in range(min(_WARM_UP_CALLS, calls)):
            run.log(build(number))
        cpu = timing.cpu_per_call(run.log, build, calls=calls, block=min(block, calls))
        walls = timing.wall_of_calls(run.log, build, calls=calls)
        run.finish()
        return {"cpu": cpu, "p50": timing.middle(walls), "p99": timing.at_fraction(walls, 0.99)}

    def wall_of_calls(self, run: Run, num_keys: int, *, calls: int, limit_s: float, burst: int = 0) -> list[float]:
        """Return the wall seconds of each log() call, after a warm-up; with a short wait between bursts."""
        build = rows.row_builder(num_keys)
        for number in range(min(_WARM_UP_CALLS, calls)):
            run.log(build(number))
        return timing.wall_of_calls(run.log, build, calls=calls, limit_s=limit_s, burst=burst)

    @contextmanager
    def spinning_thread(self) -> Iterator[None]:
        """A Python thread that computes without pause, as a data loader would, on a core of its own.

        Pinned, because a busy machine would put both threads on one core, where they do not meet.
        """
        stop = False
        cores = sorted(os.sched_getaffinity(0))

        def spin() -> None:
            os.sched_setaffinity(0, cores[-1:])
            while not stop:
                pass

        os.sched_setaffinity(0, cores[:-1] or cores)
        thread = threading.Thread(target=spin, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop = True
            thread.join()
            os.sched_setaffinity(0, cores)

    def run_probe(self, code: str, *arguments: str) -> str:
        """Run code in a bare interpreter, given the adapter's path, a directory, the mode, `arguments` and features."""
        place = f"{self.directory}/probe"
        os.makedirs(place, exist_ok=True)
        features = [f"{name}={value}" for name, value in self._features.items()]
        return process.run_bare(code, self.tracker_path, place, self._mode, *arguments, *features)

    def lost_steps(self, kills: int) -> dict[str, float]:
        """Kill `kills` programs that log; return `acknowledged` steps and how many of them are `lost`."""
        attempts = kill.plan(kills)
        places = [f"{self.directory}/kill-{number}" for number in range(kills)]
        acknowledged = [
            kill.kill_one(lambda place=place: self.tracker_in(place), attempt)  # type: ignore[misc]
            for attempt, place in zip(attempts, places, strict=True)
        ]
        lost = 0
        for place, count in zip(places, acknowledged, strict=True):
            reader = self.tracker_in(place)
            reader.setup()
            found = {int(value) for value in reader.stored("i")}
            lost += len(set(range(count)) - found)
        return {"lost": lost, "acknowledged": sum(acknowledged), "kills": kills}
