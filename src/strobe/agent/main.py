"""The agent's process: sit down, watch, leave when idle or told to.

Single-threaded but for describing environments and uploading. `serve()` is the whole life; everything it puts together
is tested on its own.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

from strobe._version import __version__
from strobe.agent.describer import Describer
from strobe.agent.entry import ActiveEntries
from strobe.agent.flush import Flusher
from strobe.agent.lifecycle import Tenure, take_seat
from strobe.agent.log import Log
from strobe.agent.reaper import Reaper
from strobe.agent.sampler import Sampler
from strobe.agent.seat import Seat
from strobe.agent.spawn import inheritable_descriptors
from strobe.agent.task import Task
from strobe.agent.upload.uploader import Uploader
from strobe.agent.watch import Watch
from strobe.home import Home

DEFAULT_IDLE_S = 10.0
#: how soon a new run is noticed, so that even a short one is described
_NEWS_S = 0.2


def serve_detached(home_path: str) -> None:
    """Live as the process that `strobe.agent.launch` started: nothing of the starter's is held on to."""
    os.chdir("/")
    for fd in inheritable_descriptors():
        os.close(fd)
    if sys.platform != "win32":
        with suppress(OSError):
            os.setsid()  # fails where the starter could do it already
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with suppress(OSError):
            os.nice(5)  # training goes first
    if sys.platform == "linux":
        with suppress(OSError):
            Path("/proc/self/comm").write_text("strobe-agent")
    seat = Seat(Home(Path(home_path)))
    sys.exit(serve(seat, Log(seat.log_path)))


def serve(seat: Seat, log: Log, *, idle_s: float | None = None, version: str = __version__) -> int:
    """Watch the home until idle; return the exit code."""
    idle_s = _idle_s(log) if idle_s is None else idle_s
    stop = StopSignal()
    try:
        seat.home.agent.mkdir(parents=True, exist_ok=True)
        tenure = take_seat(seat, version)
    except OSError as error:
        log.write(f"no agent for {seat.home.path}: {error}")
        return 1
    if tenure is None:
        return 0
    log.write(f"strobe {version} agent serves {seat.home.path}")
    active = ActiveEntries(seat.home.active, owner=tenure.owner)
    # The dead are buried first, so that nobody samples them.
    tasks: list[Task] = [
        Reaper(active.remove, log=log.write),
        Sampler(log=log.write),
        Describer(tenure.state.described, tenure.note_described, log),
        Flusher(),
        Uploader(seat.home, log, owner=tenure.owner),
    ]
    log.write(_live(Watch(active, tasks, log), tenure, stop, log, idle_s))
    return 0


def _live(watch: Watch, tenure: Tenure, stop: StopSignal, log: Log, idle_s: float) -> str:
    """Poll until there is a reason to leave, and return it."""
    busy_at = time.monotonic()
    while True:
        now = time.monotonic()
        if not tenure.is_valid():
            watch.close()
            return "stepped down: the lock file is gone, another agent may serve this home"
        try:
            watch.poll(now)
        except Exception:
            log.exception("watching")  # this is the agent's loop: whatever happened, the next second may be better
        if watch.is_busy():
            busy_at = now
        elif now - busy_at >= idle_s and tenure.retire(watch.has_runs):
            return f"retired: idle for {idle_s:g} s"
        if _wait(watch, stop, watch.delay() if watch.runs else min(watch.delay(), idle_s)):
            watch.close()
            tenure.leave()
            return f"stepped down: signal {stop.number}"


def _wait(watch: Watch, stop: StopSignal, seconds: float) -> bool:
    """Wait, but not once a run has begun or ended; tell whether a signal came."""
    until = time.monotonic() + seconds
    while not watch.has_news() and (left := until - time.monotonic()) > 0:
        if stop.wait(min(left, _NEWS_S)):
            return True
    return False


class StopSignal:
    """SIGTERM, SIGINT and SIGHUP as something to wait for."""

    def __init__(self) -> None:
        #: the signal that came, or 0
        self.number = 0
        self._reader = -1
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._note)
        if sys.platform != "win32":
            # Not threading.Event: set() from a handler may meet the lock that the interrupted wait() holds.
            self._reader, writer = os.pipe()
            os.set_blocking(writer, False)
            signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def wait(self, timeout_s: float) -> bool:
        """Wait for a signal; tell whether one has come."""
        until = time.monotonic() + timeout_s
        while not self.number and (left := until - time.monotonic()) > 0:
            if self._reader < 0:
                time.sleep(min(left, 0.2))
            elif select.select([self._reader], [], [], left)[0]:
                os.read(self._reader, 64)
        return bool(self.number)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.number = number


def _idle_s(log: Log) -> float:
    text = os.environ.get("STROBE_AGENT_IDLE_S", "")
    try:
        return float(text) if text else DEFAULT_IDLE_S
    except ValueError:
        log.write(f"STROBE_AGENT_IDLE_S={text!r} is not a number of seconds; {DEFAULT_IDLE_S:g} is used")
        return DEFAULT_IDLE_S
