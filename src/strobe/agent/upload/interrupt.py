"""Asking a run's process to stop, as Ctrl-C would, and making sure that it is that very process."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

from strobe.remote.marker import Marker


def interrupt(marker: Marker) -> bool:
    """Send SIGINT to the marker's process if it still lives; tell whether it was sent."""
    if not marker.pid or sys.platform == "win32":
        return False
    handle = -1
    if hasattr(os, "pidfd_open"):
        # Opened before the check: should the process end in between, its number may be somebody else's by then.
        with suppress(OSError):
            handle = os.pidfd_open(marker.pid)
    try:
        if marker.is_alive() is not True:
            return False
        if handle >= 0:
            signal.pidfd_send_signal(handle, signal.SIGINT)
        else:
            os.kill(marker.pid, signal.SIGINT)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        if handle >= 0:
            os.close(handle)
    return True
