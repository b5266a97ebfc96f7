"""Asking a run's process to stop, as Ctrl-C would, and making sure that it is that very process."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import Protocol


class Process(Protocol):
    """A process that can be told from another which has its number by now."""

    @property
    def pid(self) -> int: ...
    def is_alive(self) -> bool | None: ...


def interrupt(process: Process) -> bool:
    """Send SIGINT to a process if it still lives; tell whether it was sent."""
    if not process.pid or sys.platform == "win32":
        return False
    handle = -1
    if hasattr(os, "pidfd_open"):
        # Opened before the check: should the process end in between, its number may be somebody else's by then.
        with suppress(OSError):
            handle = os.pidfd_open(process.pid)
    try:
        if process.is_alive() is not True:
            return False
        if handle >= 0:
            signal.pidfd_send_signal(handle, signal.SIGINT)
        else:
            os.kill(process.pid, signal.SIGINT)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        if handle >= 0:
            os.close(handle)
    return True
