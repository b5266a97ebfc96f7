"""Starting the agent from `init()`: look whether one lives, else start one, and be done in two milliseconds.

Never raises and never waits for the agent. If none can be started the run goes on without; `problem()` says why, and so
does the agent's log for `strobe doctor`. The one module of this package that `strobe.sdk` may import.
"""

from __future__ import annotations

import os
from contextlib import suppress
from time import strftime

from strobe.agent.seat import Seat, StartError, is_newer
from strobe.home import Home

_problem: str | None = None


def ensure(home: Home, *, version: str) -> None:
    """Start the agent of `home` unless one of this version or a later one lives.

    Call it *after* the run's entry in `home.active` was written: an agent about to retire looks there one last time.
    """
    global _problem
    try:
        seat = Seat(home)
    except (OSError, ValueError) as error:
        _problem = f"no agent: {error}"
        return
    try:
        _ensure(seat, version)
        _problem = None
    except (OSError, ValueError, StartError) as error:
        _problem = f"no agent for {home.path}: {error}"
        _note(seat, _problem)


def problem() -> str | None:
    """Return why the last `ensure()` of this process could not start an agent, or None."""
    return _problem


def _ensure(seat: Seat, version: str) -> None:
    state = seat.read_state()
    if state is not None and state.is_alive() and not is_newer(version, state.version):
        return
    try:
        claimed = seat.claim_start()
    except FileNotFoundError:
        os.makedirs(seat.home.agent, exist_ok=True)
        claimed = seat.claim_start()
    if not claimed:
        return
    # Needed by the first init() only; the next ones find an agent alive.
    from strobe.agent.command import build_command, build_environment
    from strobe.agent.spawn import has_shell, spawn_detached

    try:
        shell = has_shell()
        spawn_detached(
            build_command(os.path.abspath(seat.home.path), fork=not shell),
            build_environment(os.environ),
            log_path=seat.log_path,
            shell=shell,
        )
    except BaseException:
        seat.release_start()
        raise


def _note(seat: Seat, message: str) -> None:
    with suppress(OSError), open(seat.log_path, "a", encoding="utf-8", errors="replace") as log:
        log.write(f"{strftime('%Y-%m-%d %H:%M:%S')} {os.getpid()} {message}\n")
