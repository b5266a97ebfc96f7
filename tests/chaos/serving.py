"""Servers that can be killed and started again: `strobe server` processes over one store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from strobe.store.store import Store, open_store

_START_S = 60.0


@dataclass(frozen=True)
class Place:
    """Where a store keeps its things, and what a process needs to know to get there."""

    store: str
    blobs: str
    environment: dict[str, str] = field(default_factory=dict)

    def open(self) -> Store:
        return open_store(self.store, self.blobs)

    def make_key(self, user: str) -> str:
        """Return a key of a new user, whose runs those of the scripts are to become."""
        store = self.open()
        try:
            store.accounts.add(user)
            return store.accounts.keys.add(user, scope="write")[1]
        finally:
            store.close()


class Server:
    """One server process. `port` is 0 while it does not answer."""

    def __init__(self, place: Place, directory: Path, name: str = "server") -> None:
        self.port = 0
        self.num_kills = 0
        self.log = directory / f"{name}.log"
        self._place = place
        self._home = directory / f"{name}-home"
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Start it and wait until it serves."""
        begun = self.log.stat().st_size if self.log.exists() else 0
        with self._lock, self.log.open("ab") as stream:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "error", "-m", "strobe", "server", "--port", "0", "--log-format", "json"],
                env={
                    **os.environ,
                    **self._place.environment,
                    "STROBE_HOME": str(self._home),
                    "STROBE_SERVER_STORE": self._place.store,
                    "STROBE_SERVER_BLOBS": self._place.blobs,
                },
                stdout=subprocess.DEVNULL,
                stderr=stream,
            )
        until = time.monotonic() + _START_S
        while not (port := self._find_port(begun)):
            assert self._process.poll() is None, f"the server ended as it started: {self.tail()}"
            assert time.monotonic() < until, f"the server did not serve within {_START_S} s: {self.tail()}"
            time.sleep(0.02)
        self.port = port

    def kill(self) -> None:
        """End it as a power switch would."""
        with self._lock:
            self.port = 0
            if self._process is not None and self._process.poll() is None:
                self._process.kill()
                self._process.wait()
                self.num_kills += 1

    @property
    def is_up(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def faults(self) -> list[str]:
        """Return what the server did not expect, as it is in its log."""
        return [str(line) for line in self._lines() if line.get("level") in ("error", "critical")]

    def num_answers(self, status: int) -> int:
        """Return how often the server answered so."""
        return sum(line.get("status") == status for line in self._lines())

    def tail(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-8:])

    def _lines(self) -> list[dict[str, Any]]:
        # A server that was killed may have left half a line.
        return [json.loads(line) for line in self.log.read_text().splitlines() if line[:1] == "{" and line[-1:] == "}"]

    def _find_port(self, begun: int) -> int:
        with self.log.open("rb") as stream:
            stream.seek(begun)
            for line in stream.read().splitlines():
                if b'"serving"' in line:
                    return int(json.loads(line)["url"].rpartition(":")[2])
        return 0
