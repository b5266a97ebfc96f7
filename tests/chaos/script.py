"""Training scripts of users as processes, on this host or one that calls itself otherwise, and what they noticed."""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from strobe.home import Home
from tests.sdk.scripts import environment

#: what a script is asked for, unless something else is said
EVERYTHING = ("console", "deferred", "files", "fork", "media")
_TRAINER = Path(__file__).with_name("trainer.py")
_OTHER_HOST = ("unshare", "--uts", "sh", "-c", 'hostname chaos-other-host && exec "$@"', "sh")


class Noticed(msgspec.Struct):
    """What a script noticed of being tracked: seconds of its typical and its longest call of log(), and of finish()."""

    num_rows: int
    log_s: float
    longest_s: float
    finish_s: float


class Script:
    """One process that trains."""

    def __init__(self, home: Home, env: Mapping[str, str], run_id: str, prefix: tuple[str, ...] = (), **job: Any):
        usual = {"seed": 1, "num_rows": 300, "pause_s": 0.01, "features": EVERYTHING}
        usual |= {"scratch": str(home.path.parent / f"scratch-{run_id}")}
        self.run_id = run_id
        self.is_killed = False
        self._output = home.path.parent / f"output-{run_id}-{id(self):x}"
        command = [*prefix, sys.executable, str(_TRAINER), json.dumps({**usual, "run_id": run_id, **job})]
        # Files, not pipes: nobody reads those while the storm blows, and a full one would stop the script.
        with self._output.open("wb") as stream:
            self.process = subprocess.Popen(command, env=env, cwd=home.path.parent, stdout=stream, stderr=stream)

    @property
    def is_over(self) -> bool:
        return self.process.poll() is not None

    def kill(self) -> None:
        self.is_killed = not self.is_over
        self.process.kill()
        self.process.wait()

    def noticed(self, timeout_s: float) -> Noticed:
        """Wait for the end, which must be a good one, and return what the script noticed."""
        try:
            code = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.run_id} still trains after {timeout_s} s: {self.output()}") from None
        assert code == 0, f"{self.run_id} ended with exit code {code}: {self.output()}"
        return msgspec.json.decode(self._output.read_bytes().splitlines()[-1], type=Noticed)

    def output(self) -> str:
        return self._output.read_text(errors="replace")[-3000:]


@functools.cache
def offline_log_s(directory: Path) -> float:
    """Return how long a call of log() takes where there is neither a server nor an agent."""
    directory.mkdir(parents=True)
    home = Home(directory / "home")
    return Script(home, environment(home, STROBE_MODE="offline"), "offline", pause_s=0.002).noticed(60).log_s


@functools.cache
def other_host() -> tuple[str, ...]:
    """Return what to put before a command so that it runs on another host, as far as Strobe can tell; else nothing."""
    can = shutil.which("unshare") and shutil.which("hostname")
    if can and subprocess.run([*_OTHER_HOST, "true"], capture_output=True).returncode == 0:
        return _OTHER_HOST
    return ()
