"""The end of a run that goes to a server: wait a while until the agent has brought everything there, then leave it.

The agent's word is a small file in the run's directory (`strobe.remote.state`). Nobody is talked to, and whatever is
wrong, the training process ends as it would without a server.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from strobe import identity
from strobe.remote.state import SyncState, read_state

if TYPE_CHECKING:
    from strobe.sdk.recorder import Recorder
    from strobe.terminal import Terminal

_POLL_S = 0.05
#: a process that sees nothing happen for this long says what it waits for
_QUIET_S = 1.0
#: where nobody answers at the server's address, waiting longer than this brings nothing
_HOPELESS_S = 5.0
_LINE_S = 10.0
_INITIAL_PID_NAMESPACE = "pid:[4026531836]"
#: batch systems that end a job's processes with it
_BATCH = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "SGE_TASK_ID", "FLUX_JOB_ID", "COBALT_JOBID")


def hand_over(recorder: Recorder, timeout_s: float) -> None:
    """Wait for the upload of what this process wrote, at most `timeout_s`; say how it stands if it is not done."""
    waiting = _Waiting(recorder.terminal)
    nobody = _why_nobody_uploads(recorder)
    until = time.monotonic() + (timeout_s if nobody is None else 0.0)
    ends_with_us = _ends_with_us()
    state = _state_of(recorder)
    if state is not None and recorder.attempt in state.stopped:
        recorder.terminal.log(f"somebody stopped the run at {state.server}")
    changed_at = time.monotonic()
    while not _is_settled(state, recorder) and not _is_refused(state, recorder):
        now = time.monotonic()
        silent_s = now - changed_at
        if ends_with_us:
            if silent_s >= timeout_s or nobody is not None:
                break  # as long as something moves it is waited for: nobody goes on when this process ends
        elif now >= until or (state is not None and state.is_unreachable and silent_s > _HOPELESS_S):
            break
        waiting.show(state)
        time.sleep(_POLL_S)
        before, state = state, _state_of(recorder)
        if _progress(before) != _progress(state):
            changed_at = time.monotonic()
    waiting.clear()
    _conclude(recorder, state, nobody, ends_with_us=ends_with_us)


def _state_of(recorder: Recorder) -> SyncState | None:
    state = read_state(recorder.run_dir.path)
    # What is known of another server, to which the run went before, says nothing about this one.
    return state if state is not None and state.server == recorder.settings.base_url else None


def _is_settled(state: SyncState | None, recorder: Recorder) -> bool:
    return state is not None and recorder.writer.header.writer in state.settled


def _is_refused(state: SyncState | None, recorder: Recorder) -> bool:
    """Tell whether the server has refused; what it said to an earlier attempt of the run may be settled by now."""
    return state is not None and state.is_refused and state.updated_ns >= recorder.started_ns


def _progress(state: SyncState | None) -> tuple[int, int]:
    return (state.num_moved, state.num_files) if state is not None else (0, 0)


def _why_nobody_uploads(recorder: Recorder) -> str | None:
    """Return why no agent uploads this run; None if one does."""
    if not recorder.settings.agent:
        return "the agent is off"
    from strobe.agent.launch import problem
    from strobe.agent.seat import Seat

    if problem() is not None:
        return problem()
    seat = Seat(recorder.home)
    state = seat.read_state()
    if (state is None or not state.is_alive()) and not os.path.exists(seat.starting_path):
        from strobe._version import __version__
        from strobe.agent.launch import ensure

        ensure(recorder.home, version=__version__)  # it was killed meanwhile
        return problem()
    return None


def _ends_with_us() -> bool:
    """Tell whether everything here, the agent too, is ended when this process is: a container's or a job's main one."""
    if any(name in os.environ for name in _BATCH):
        return True
    in_container = identity.pid_namespace() not in ("", _INITIAL_PID_NAMESPACE)
    return os.getpid() == 1 or (in_container and os.getppid() == 1)


def _conclude(recorder: Recorder, state: SyncState | None, nobody: str | None, *, ends_with_us: bool) -> None:
    terminal, ship = recorder.terminal, f"`strobe sync {recorder.run_dir.path}` uploads it"
    if _is_settled(state, recorder):
        if state is not None and state.num_left_out:
            terminal.warn(f"{state.num_left_out} records were not uploaded: {state.error}")
        else:
            terminal.log(f"synced, the server has everything of {recorder.run_dir.run_path.id}")
        return
    if state is not None and _is_refused(state, recorder):
        terminal.warn(f"not uploaded: {state.error}; the run is safe in {recorder.run_dir.path}, {ship} later")
    elif nobody is not None:
        terminal.warn(f"not uploaded: {nobody}; {ship}")
    else:
        left = f"{_size(state.left_bytes)} left" if state is not None and state.left_bytes else "not all is uploaded"
        reason = f" ({state.error})" if state is not None and state.error else ""
        if ends_with_us:
            terminal.warn(f"{left}{reason}, and this job's processes end with it; {ship} later")
        else:
            terminal.log(f"{left}{reason}; the agent goes on in the background, `strobe sync` shows how far it is")


class _Waiting:
    """The progress line: drawn over on a terminal, now and then a new one elsewhere."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._began = time.monotonic()
        self._shown_at = self._began + _QUIET_S - _LINE_S
        self._first: int | None = None
        self._is_drawn = False

    def show(self, state: SyncState | None) -> None:
        now = time.monotonic()
        if self._terminal.quiet or now - self._began < _QUIET_S:
            return
        interactive = self._terminal.is_interactive
        if now - self._shown_at < (0.2 if interactive else _LINE_S):
            return
        self._shown_at = now
        text = self._text(state, now)
        if interactive:
            self._is_drawn = True
            self._terminal.write(f"\r\x1b[K{text[: self._terminal.width - 1]}")
        else:
            self._terminal.log(text.removeprefix("strobe: "))

    def clear(self) -> None:
        if self._is_drawn:
            self._terminal.write("\r\x1b[K")

    def _text(self, state: SyncState | None, now: float) -> str:
        if state is None:
            return "strobe: waiting for the agent to begin the upload"
        if self._first is None:
            self._first = state.num_bytes
        rate = (state.num_bytes - self._first) / max(now - self._began, 0.1)
        parts = [f"{state.num_rows:,} rows, {_size(state.num_bytes)} sent"]
        if rate > 0:
            parts.append(f"{_size(rate)}/s")
        if state.left_bytes:
            parts.append(f"{_size(state.left_bytes)} left")
        if state.num_files_left:
            parts.append(f"{state.num_files_left:,} files left")
        if state.error:
            parts.append(state.error)
        return "strobe: uploading: " + ", ".join(parts)


def _size(num_bytes: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if num_bytes < 1000:
            return f"{num_bytes:.3g} {unit}"
        num_bytes /= 1000
    return f"{num_bytes:.3g} TB"
