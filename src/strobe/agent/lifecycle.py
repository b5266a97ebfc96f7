"""Taking the seat, leaving it, and asking who sits there.

Never two at once: whoever serves holds the lock. A newer version asks the older one to step down and waits for the
lock; a crashed agent's lock is free, and its state tells the next one what was already done. Knows nothing of what
agents do.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import msgspec

from strobe import identity
from strobe.agent.command import find_interpreter
from strobe.agent.lock import Lock
from strobe.agent.seat import Seat, StartError, State, is_newer, read_state
from strobe.home import Home

_POLL_S = 0.05
#: after a polite request an agent that hangs (a stuck file server) is ended: its journals survive that
_PATIENCE_S = 5.0
_KEEP_LOGS_S = 7 * 86400.0


class Tenure:
    """The time for which this process holds the seat."""

    def __init__(self, seat: Seat, lock: Lock, state: State) -> None:
        self.seat = seat
        self.state = state
        #: the user id that files of ours get in this home (a file server may map it)
        self.owner = os.stat(seat.state_path).st_uid
        self._lock = lock

    def is_valid(self) -> bool:
        """Tell whether the seat is still ours; False when its files were deleted and somebody else may sit there."""
        return self._lock.is_held()

    def note_described(self, writers: list[str]) -> None:
        """Remember across a crash which writers were described."""
        self.state = msgspec.structs.replace(self.state, described=writers)
        self.seat.write_state(self.state)

    def retire(self, has_work: Callable[[], bool]) -> bool:
        """Leave the seat unless there is work after all; return whether it was left.

        An `init()` writes its entry first and then reads our state. We remove the state first and then look for
        entries. So either it finds no agent and starts one, or we find its entry and stay.
        """
        self.seat.remove_state()
        if has_work():
            self.seat.write_state(self.state)
            return False
        self._lock.release()
        return True

    def leave(self) -> None:
        """Leave the seat at once."""
        if self.is_valid():
            self.seat.remove_state()
        self._lock.release()


def take_seat(seat: Seat, version: str, *, patience_s: float = _PATIENCE_S) -> Tenure | None:
    """Sit down; None if an agent as good as this one already does. Raises OSError if the home cannot be written."""
    lock = Lock(seat.lock_path)
    begun = time.monotonic()
    asked: set[tuple[int, int]] = set()
    try:
        while not lock.acquire():
            holder = seat.read_state()
            waited = time.monotonic() - begun
            if waited > 2 * patience_s:
                return None
            if holder is not None and holder.is_alive():
                if not is_newer(version, holder.version):
                    return None
                _ask_once(holder, signal.SIGTERM if waited < patience_s else _hard_signal(), asked)
            time.sleep(_POLL_S)
        state = _own_state(version, seat.read_state())
        seat.write_state(state)
        _tidy(seat)
    finally:
        seat.release_start()
    return Tenure(seat, lock, state)


def _own_state(version: str, before: State | None) -> State:
    pid = os.getpid()
    return State(
        pid=pid,
        pid_started=identity.process_started(pid) or 0.0,
        version=version,
        host=identity.host_id(),
        boot_id=identity.boot_id(),
        pid_namespace=identity.pid_namespace(),
        started_ns=time.time_ns(),
        python=sys.executable or "",
        described=before.described if before else [],
    )


def _tidy(seat: Seat) -> None:
    """Remove what agents of earlier boots and of containers long gone have left."""
    for path in seat.home.agent.iterdir():
        if path.name.startswith(seat.key):
            continue
        with suppress(OSError):
            if path.suffix in {".log", ".1", ".starting"}:
                if time.time() - path.stat().st_mtime > _KEEP_LOGS_S:
                    path.unlink()
            elif path.suffix == ".json" and _is_of_an_earlier_boot(read_state(str(path))):
                path.with_suffix(".lock").unlink(missing_ok=True)
                path.unlink()


def _is_of_an_earlier_boot(state: State | None) -> bool:
    return state is not None and state.host == identity.host_id() and state.boot_id != identity.boot_id()


def _ask_once(holder: State, number: int, asked: set[tuple[int, int]]) -> None:
    if (holder.pid, number) not in asked:
        asked.add((holder.pid, number))
        _send(holder, number)


def _send(holder: State, number: int) -> bool:
    try:
        os.kill(holder.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _hard_signal() -> int:
    return int(getattr(signal, "SIGKILL", signal.SIGTERM))


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to know about the agent of a home, seen from this machine."""

    home: str
    running: bool
    pid: int | None = None
    version: str | None = None
    python: str | None = None
    uptime_s: float | None = None
    log: str
    #: why no agent can be started here, or what the last one said before it died
    problem: str | None = None


def status(home: Home) -> Status:
    """Tell whether an agent serves `home` on this machine and, if none can, why."""
    seat = Seat(home)
    state = seat.read_state()
    if state is None or not state.is_alive():
        left_behind = state is not None
        return Status(home=str(home.path), running=False, log=seat.log_path, problem=_find_problem(seat, left_behind))
    return Status(
        home=str(home.path),
        running=True,
        pid=state.pid,
        version=state.version,
        python=state.python,
        uptime_s=max(0.0, (time.time_ns() - state.started_ns) / 1e9),
        log=seat.log_path,
    )


def stop(home: Home, *, timeout_s: float = _PATIENCE_S) -> bool:
    """Ask the agent of `home` to go and wait until it has; False if it is still there.

    The next `init()` starts one again.
    """
    state = Seat(home).read_state()
    if state is None or not state.is_alive() or not _send(state, signal.SIGTERM):
        return state is None or not state.is_alive()
    until = time.monotonic() + timeout_s
    while state.is_alive():
        if time.monotonic() > until:
            return False
        time.sleep(_POLL_S)
    return True


def _find_problem(seat: Seat, left_behind: bool) -> str | None:
    try:
        find_interpreter()
    except StartError as error:
        return str(error)
    existing = seat.home.agent
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    probe = existing / f".strobe-{os.getpid()}"
    try:
        # Not os.access(): for root, on network file systems and in /proc it promises what does not hold.
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        probe.unlink()
    except OSError as error:
        return f"{existing} cannot be written to: {error.strerror or error}"
    last = read_last_line(seat.log_path)
    if left_behind:
        return f"the last agent died without leaving; its last words: {last or 'none'}"
    # Lines of ours begin with a date; the end of an interpreter's traceback does not.
    return last if last is not None and (not last[:4].isdigit() or " no agent" in last) else None


def read_last_line(path: str) -> str | None:
    """Return the last line of the log that says something."""
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - 4096))
            lines = stream.read().decode(errors="replace").split("\n")
    except OSError:
        return None
    return next((line for line in reversed(lines) if line.strip()), None)
