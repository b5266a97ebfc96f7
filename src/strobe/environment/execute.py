"""Running another program for its output: bounded in time and in bytes, never in the user's way.

For the agent and side threads only: this imports `subprocess`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from time import monotonic


class Failed(Exception):
    """A program is missing, took too long or ended with an error; the message says which.

    `is_silent`: it ended with 1 and said nothing, which is how many programs say that there is nothing.
    """

    def __init__(self, message: str, *, is_silent: bool = False) -> None:
        super().__init__(message)
        self.is_silent = is_silent


class Output:
    """What a program wrote to stdout, and whether there was more."""

    def __init__(self, content: bytes, is_cut: bool) -> None:
        self.content = content
        self.is_cut = is_cut

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


def execute(
    command: Sequence[str],
    *,
    cwd: str,
    deadline: float,
    max_bytes: int = 1 << 20,
    environ: Mapping[str, str] | None = None,
) -> Output:
    """Run `command` until it ends, `deadline` (monotonic) passes or it has written more than `max_bytes`."""
    remaining_s = deadline - monotonic()
    # "git diff", whatever settings stand in between.
    verbs = [word for word in command[1:] if word[0].isalpha() and word.replace("-", "").isalpha()]
    name = " ".join([os.path.basename(command[0]), *verbs[:1]])
    if remaining_s <= 0:
        raise Failed(f"{name}: no time left")
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env={**os.environ, **(environ or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                # A session of its own, so that its children (pagers, filters) can be ended with it.
                start_new_session=sys.platform != "win32",
            )
        except OSError as error:
            raise Failed(f"{name}: {error.strerror or error}") from error
        late = threading.Event()

        def end_late() -> None:
            late.set()
            _end(process)

        timer = threading.Timer(remaining_s, end_late)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdout is not None
            content = process.stdout.read(max_bytes + 1)
            is_cut = len(content) > max_bytes
            if is_cut:
                _end(process)
            code = process.wait()
        finally:
            timer.cancel()
            if process.stdout is not None:
                process.stdout.close()
        if late.is_set():
            raise Failed(f"{name}: took longer than {remaining_s:.0f} s")
        if code and not is_cut:
            errors.seek(0)
            lines = errors.read(4096).decode("utf-8", "replace").strip().splitlines()
            reason = lines[0] if lines else f"exit code {code}"
            raise Failed(f"{name}: {reason}", is_silent=code == 1 and not lines)
    return Output(content[:max_bytes], is_cut)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except OSError:  # it has ended by itself
        pass
