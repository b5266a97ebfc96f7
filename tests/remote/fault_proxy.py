"""A proxy between a client and a server that breaks things on purpose, at the level of bytes.

Each connection draws its fate from a seed: passed on as it is, late, cut off after some bytes in either direction, an
answer that is delivered in part, swallowed whole, or replaced by a 503 or 429.
"""

from __future__ import annotations

import random
import socket
import threading
import time
from contextlib import suppress

_ANSWER = b"HTTP/1.1 %d Not now\r\nRetry-After: 0\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


class FaultProxy:
    """Listens at `port` and passes on to `upstream`, a port that may change when the server is started again."""

    def __init__(self, seed: int, *, share: float = 0.5) -> None:
        self.upstream = 0
        #: how many connections come to harm; 0 once the test wants peace
        self.share = share
        self.counts: dict[str, int] = {}
        self._rng = random.Random(seed)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            fate = "pass"
            if self._rng.random() < self.share:
                fate = self._rng.choice(["late", "cut request", "cut answer", "swallow answer", "503", "429"])
            self.counts[fate] = self.counts.get(fate, 0) + 1
            amount = self._rng.randrange(20, 3000)
            threading.Thread(target=self._handle, args=(client, fate, amount), daemon=True).start()

    def _handle(self, client: socket.socket, fate: str, amount: int) -> None:
        with suppress(OSError), client:
            if fate in ("503", "429"):
                client.recv(1 << 16)
                client.sendall(_ANSWER % int(fate))
                return
            if fate == "late":
                time.sleep(0.3)
            with socket.create_connection(("127.0.0.1", self.upstream), timeout=5) as server:
                there = threading.Thread(
                    target=_pump, args=(client, server, amount if fate == "cut request" else None), daemon=True
                )
                there.start()
                limit = {"cut answer": amount % 150, "swallow answer": 0}.get(fate)
                _pump(server, client, limit)
                for each in (client, server):
                    with suppress(OSError):
                        each.shutdown(socket.SHUT_RDWR)
                there.join(5)


def _pump(source: socket.socket, target: socket.socket, limit: int | None) -> None:
    """Pass bytes on until the end; with a limit, at most so many, then cut both off."""
    source.settimeout(10)
    with suppress(OSError):
        while piece := source.recv(1 << 16):
            if limit is not None:
                if len(piece) >= limit:
                    target.sendall(piece[:limit])
                    break
                limit -= len(piece)
            target.sendall(piece)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
