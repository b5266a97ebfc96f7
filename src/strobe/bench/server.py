"""A server to measure against: `strobe server` in a process of its own, on a free port, with its own store and key.

Runs in the interpreter that runs the benchmark, which needs `strobe[server]`; whatever it is measured with may live
anywhere else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from strobe.bench.load.worker.process import resident_bytes
from strobe.errors import Error, MissingExtra

USER = "bench"
_START_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that listens."""

    url: str
    key: str
    pid: int

    def resident_bytes(self) -> int:
        """Return the memory that it has in RAM, shared libraries included."""
        return resident_bytes(self.pid)


@contextmanager
def local_server(directory: Path) -> Iterator[LocalServer]:
    """Start a server whose store lies in `directory`, with one user and a key, and end it afterwards."""
    directory.mkdir(parents=True, exist_ok=True)
    key = _make_key(directory)
    log = directory / "server.log"
    command = [
        *(sys.executable, "-m", "strobe", "server", "--host", "127.0.0.1", "--port", "0", "--log-format", "json"),
        *("--store", _address(directory), "--blobs", str(directory / "blobs")),
    ]
    # Its own home, so that no settings of the user are read and nothing is left there.
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("STROBE_", "WANDB_"))}
    environment["STROBE_HOME"] = str(directory)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=output, env=environment
        )
    try:
        yield LocalServer(_wait_for_url(process, log), key, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(directory: Path) -> str:
    return f"sqlite:///{directory / 'strobe.db'}"


def _make_key(directory: Path) -> str:
    try:
        from strobe.store.store import open_store
    except ModuleNotFoundError as error:
        raise MissingExtra(f"a server to measure against needs {error.name}; pip install 'strobe[server]'") from error
    store = open_store(_address(directory), directory / "blobs")
    try:
        store.accounts.add(USER, is_admin=True)
        return store.accounts.keys.add(USER, scope="admin")[1]
    finally:
        store.close()


def _wait_for_url(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + _START_LIMIT_S
    while time.monotonic() < deadline and process.poll() is None:
        for line in log.read_text(encoding="utf-8").splitlines():
            if '"serving"' in line:
                return str(json.loads(line)["url"])
        time.sleep(0.02)
    raise Error(f"the server did not start: {log.read_text(encoding='utf-8')[-500:] or 'it said nothing'}")
