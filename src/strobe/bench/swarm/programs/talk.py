"""What a benchmark program says to whoever started it: JSON, one object per line, on its standard output.

The first line that it gets is its job. A phase is what is measured: where one begins and ends the program waits for a
line, and meanwhile the other side reads how much CPU and memory was used so far. Standard library only.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_PROGRESS_S = 0.1


class Phase:
    """A stretch that is measured: its time is what was spent in `timed`, or else all of it."""

    def __init__(self, talk: Talk, name: str, total: int) -> None:
        self._talk = talk
        self._name = name
        self._total = total
        self._told_at = 0.0
        self.seconds: float | None = None
        self.figures: dict[str, float] = {}

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the time of this block."""
        began = time.perf_counter()
        yield
        self.seconds = (self.seconds or 0.0) + time.perf_counter() - began

    def progress(self, done: int) -> None:
        """Tell how much is done, not too often."""
        now = time.monotonic()
        if done >= self._total or now - self._told_at >= _PROGRESS_S:
            self._told_at = now
            self.report(done)

    def report(self, done: int, **figures: float) -> None:
        """Tell how much is done, and of the last step what there is to tell."""
        self._talk.say(event="progress", phase=self._name, done=done, total=self._total, figures=figures)


class Talk:
    """The program's side of the conversation; `job` is what it was told to do."""

    def __init__(self) -> None:
        # Libraries print what they like: that goes to the log, as their errors do, and nobody else reads our input.
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
        self._in = os.fdopen(os.dup(0), encoding="utf-8")
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        self.job: dict[str, Any] = json.loads(self._in.readline())
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def say(self, **event: Any) -> None:
        """Send one event."""
        self._out.write(json.dumps(event) + "\n")
        self._out.flush()

    def about(self, version: str, **facts: str) -> None:
        """Say who speaks."""
        self.say(event="about", version=version, facts=facts)

    @contextmanager
    def phase(self, name: str, total: int = 0, **figures: float) -> Iterator[Phase]:
        """Measure what is done inside; `figures` are known before."""
        phase = Phase(self, name, total)
        self._say_and_wait(event="began", phase=name, total=total, figures=figures)
        began = time.perf_counter()
        yield phase
        seconds = phase.seconds if phase.seconds is not None else time.perf_counter() - began
        self._say_and_wait(event="ended", phase=name, seconds=seconds, figures=phase.figures)

    def finish(self) -> None:
        """Say that all was measured; what is still to be put away takes nobody's time."""
        self.say(event="finished")

    def _say_and_wait(self, **event: Any) -> None:
        self.say(**event)
        self._answers.get()

    def _listen(self) -> None:
        for line in self._in:
            self._answers.put(line)
        # Whoever started this is gone: nobody wants the rest, which may take an hour, nor the processes made for it.
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)
