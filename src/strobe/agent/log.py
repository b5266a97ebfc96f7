"""The agent's log: a small file that turns over once, because nobody looks after it.

Not `logging`: its handlers would be a fifth of the agent's memory. The file is also the agent's stderr, so what the
interpreter itself says before it dies lands there too.
"""

from __future__ import annotations

import os
import traceback
from contextlib import suppress
from time import strftime

_MAX_BYTES = 256 << 10


class Log:
    """Appends lines to `path`, or writes them to stderr when there is none (foreground)."""

    def __init__(self, path: str | None, *, max_bytes: int = _MAX_BYTES) -> None:
        self.path = path
        #: how many exceptions were caught and survived
        self.num_errors = 0
        self._max_bytes = max_bytes
        self._seen: dict[str, int] = {}
        if path is not None:
            self._open(path)

    def write(self, message: str) -> None:
        """Append one line. A full disk is no reason to die."""
        with suppress(OSError):
            if self.path is not None and os.fstat(2).st_size > self._max_bytes:
                os.replace(self.path, self.path + ".1")
                self._open(self.path)
            line = f"{strftime('%Y-%m-%d %H:%M:%S')} {os.getpid()} {message}\n"
            os.write(2, line.encode(errors="backslashreplace"))  # one call, so that lines of two processes do not mix

    def exception(self, doing: str) -> None:
        """Count the exception being handled; log it the 1st, 2nd, 4th, 8th … time it is met."""
        self.num_errors += 1
        text = traceback.format_exc()
        count = self._seen[text] = self._seen.get(text, 0) + 1
        if len(self._seen) > 100:  # messages with ever new values in them
            self._seen.clear()
        if count & (count - 1) == 0:
            self.write(f"{doing} failed ({count} times so far, {self.num_errors} failures in all)\n{text.rstrip()}")

    def _open(self, path: str) -> None:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(fd, 2, inheritable=False)
        os.close(fd)
