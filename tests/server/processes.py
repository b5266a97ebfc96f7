"""A server as users start it: its own process, a real socket."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strobe.store.accounts import Accounts
from strobe.store.address import open_database


@dataclass
class Running:
    """A server that listens."""

    process: subprocess.Popen[str]
    url: str
    log: Path

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def stop(self, signum: int = signal.SIGTERM) -> int:
        self.process.send_signal(signum)
        return self.process.wait(20)


def make_key(home: Path, user: str = "ada") -> str:
    """Return a new key for a server on that home."""
    database = open_database(f"sqlite:///{home / 'server' / 'strobe.db'}")
    try:
        accounts = Accounts(database)
        if user not in [account.name for account in accounts.all()]:
            accounts.add(user, is_admin=True)
        return accounts.keys.add(user, scope="admin")[1]
    finally:
        database.close()


@contextmanager
def running(home: Path, *options: str, script: str | None = None) -> Iterator[Running]:
    """Start `strobe server` (or a script that serves), wait until it listens, and see that it goes."""
    home.mkdir(parents=True, exist_ok=True)
    log = home / "server.log"
    command = [sys.executable, "-W", "error", "-m", "strobe", "server"] if script is None else [sys.executable, script]
    environment = {**os.environ, "STROBE_HOME": str(home), "PYTHONUNBUFFERED": "1"}
    with log.open("w") as stream:
        process = subprocess.Popen(
            [*command, "--port", "0", "--log-format", "json", *options],
            stdout=subprocess.DEVNULL,
            stderr=stream,
            env=environment,
            text=True,
        )
    try:
        yield Running(process, _url(process, log), log)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _url(process: subprocess.Popen[str], log: Path) -> str:
    import time

    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        for line in log.read_text().splitlines():
            if '"serving"' in line:
                url: str = json.loads(line)["url"]
                return url
        time.sleep(0.02)
    raise AssertionError(f"the server did not start: {log.read_text()}")
