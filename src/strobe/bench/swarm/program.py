"""Runs one benchmark program from its job to its end, and measures from outside what its phases use.

The program may be ours or anybody's: it is known by what it says. Whatever else it prints, and the reason if it fails,
is in its log. Processes that it leaves behind are ended.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

import msgspec
import psutil

from strobe.bench.swarm import usage
from strobe.bench.swarm.event import About, Began, Ended, Event, Finished, Progress, parse
from strobe.errors import Error

_POLL_S = 0.5
_END_S = 30.0


@dataclass(frozen=True, slots=True)
class Phase:
    """What a phase took: wall seconds as the program counts them, the CPU of all its processes, memory at the end."""

    name: str
    seconds: float
    cpu_s: float
    memory_bytes: int
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program gave; with `error`, only the phases before it."""

    version: str = ""
    phases: Mapping[str, Phase] = field(default_factory=dict)
    error: str | None = None

    @property
    def memory_bytes(self) -> int:
        """The most that was in use at the end of a phase."""
        return max((phase.memory_bytes for phase in self.phases.values()), default=0)


class Listener:
    """Hears who speaks, and of phases as they go; makes something of what it overrides."""

    def about(self, event: About) -> None:
        pass

    def began(self, event: Began) -> None:
        pass

    def progress(self, event: Progress) -> None:
        pass

    def ended(self, phase: Phase) -> None:
        pass


class Program:
    """One run of a benchmark program."""

    def __init__(self, command: Sequence[str], job: Mapping[str, Any], *, timeout_s: float) -> None:
        self._command = list(command)
        self._job = msgspec.json.encode(job) + b"\n"
        self._timeout_s = timeout_s

    def run(self, listener: Listener) -> Outcome:
        """Run to the end."""
        with tempfile.TemporaryFile() as log:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=_environment(),
                start_new_session=True,
            )
            conversation = _Conversation(process, listener, time.monotonic() + self._timeout_s)
            error: str | None = None
            patience_s = 0.0
            try:
                conversation.write(self._job)
                conversation.hold()
                patience_s = _END_S
            except EOFError:
                error = _last_line(log) or f"exit code {process.wait()}"
            except TimeoutError:
                error = f"not done after {self._timeout_s:g} s; --timeout gives more"
            except Error as exc:
                error = str(exc)
            finally:
                conversation.end(patience_s)
        return Outcome(conversation.version, conversation.phases, error)


class _Conversation:
    def __init__(self, process: subprocess.Popen[bytes], listener: Listener, deadline: float) -> None:
        self._process = process
        self._listener = listener
        self._deadline = deadline
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._before = usage.Usage()
        self.version = ""
        self.phases: dict[str, Phase] = {}

    def write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it died: reading its last words says so
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def hold(self) -> None:
        """Listen until the program has finished; EOFError if it dies before, TimeoutError if it takes too long."""
        self._reader.start()
        while not isinstance(event := self._next(), Finished):
            self._hear(event)

    def end(self, patience_s: float) -> None:
        """Wait for the end of the program; end it, and the processes that it leaves, if it does not come."""
        process = self._process
        try:
            family = psutil.Process(process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            family = []
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
        for left in [process, *family]:
            with suppress(psutil.NoSuchProcess):
                left.kill()
        if hasattr(os, "killpg"):  # also those whose parents died before them
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        psutil.wait_procs(family, timeout=_END_S)  # a busy machine ends them a moment later
        self._reader.join(_POLL_S)
        for pipe in (process.stdin, process.stdout):
            # Somebody unknown may still hold the other end: then the reader waits, and closing would wait for it.
            if pipe is not None and not self._reader.is_alive():
                with suppress(BrokenPipeError):
                    pipe.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _next(self) -> Event:
        while time.monotonic() < self._deadline:
            try:
                line = self._lines.get(timeout=_POLL_S)
            except queue.Empty:
                if self._process.poll() is None:
                    continue
                # Its last words may be on their way, unless children that outlive it hold its output open.
                self._reader.join(_END_S)
                line = None if self._lines.empty() else self._lines.get()
            if line is None:
                raise EOFError
            return parse(line.decode("utf-8", errors="replace"))
        raise TimeoutError

    def _hear(self, event: Event) -> None:
        if isinstance(event, About):
            self.version = event.version
            self._listener.about(event)
        elif isinstance(event, Began):
            self._listener.began(event)
            self._before = usage.of_tree(self._process.pid)
            self.write(b"\n")
        elif isinstance(event, Progress):
            self._listener.progress(event)
        elif isinstance(event, Ended):
            now = usage.of_tree(self._process.pid)
            used_s = now.cpu_s - self._before.cpu_s
            phase = Phase(event.phase, event.seconds, used_s, now.memory_bytes, event.figures)
            self.phases[event.phase] = phase
            self._listener.ended(phase)
            self.write(b"\n")


def _environment() -> dict[str, str]:
    """Return our environment, but for what would make a checkout compile its modules anew in every process.

    Packages that pip installed, and those of a peer are such, come with their bytecode.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode("utf-8", errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else ""
