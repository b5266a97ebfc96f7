"""The post office for one server: its link, the batches that go through it, and the heartbeats of its runs.

Heartbeats keep the server from calling a run crashed that has nothing to say; the answers, like those to batches, name
the runs that somebody wants to stop.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

import msgspec

from strobe.agent.upload.parcel import Share, body_of
from strobe.remote.answer import Answer, Ok, Retry
from strobe.remote.link import Link
from strobe.wire import BATCHES
from strobe.wire.batch import Receipt

HEARTBEAT_S = 10.0


class _Stops(msgspec.Struct):
    stop: list[str] = []


# Made here, once: msgspec crashes when threads are the first to decode a type at the same moment.
_decode_receipt = msgspec.json.Decoder(Receipt).decode
_decode_stops = msgspec.json.Decoder(_Stops).decode


class Post:
    """What the uploads to one server share. Thread safe."""

    def __init__(self, link: Link, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.link = link
        self._clock = clock
        self._lock = threading.Lock()
        self._running: set[str] = set()
        self._beat_at = float("-inf")
        self._wanted_stops: set[str] = set()

    def send(self, shares: list[Share]) -> tuple[Receipt | None, Answer, int]:
        """Send batches; return the receipt if there is one, the answer, and the bytes that went out."""
        body, encoding = body_of(shares)
        answer = self.link.request("POST", "/ingest", body, {"Content-Type": BATCHES, "Content-Encoding": encoding})
        if not isinstance(answer, Ok):
            return None, answer, len(body)
        try:
            receipt = _decode_receipt(answer.body)
        except msgspec.MsgspecError as error:
            return None, Retry(f"{self.link.target.base_url}: no receipt in the answer: {error}"), len(body)
        self._note_stops({ack.run for ack in receipt.acks}, receipt.stop)
        return receipt, answer, len(body)

    def set_running(self, run: str, is_running: bool) -> None:
        """Say whether a run (its path on the server) needs heartbeats."""
        with self._lock:
            (self._running.add if is_running else self._running.discard)(run)

    def beat(self) -> None:
        """Send the heartbeats if they are due; that they fail shows in the link."""
        with self._lock:
            now = self._clock()
            if not self._running or now - self._beat_at < HEARTBEAT_S:
                return
            self._beat_at = now
            runs = sorted(self._running)
        answer = self.link.post("/heartbeat", {"runs": runs})
        if isinstance(answer, Ok):
            try:
                self._note_stops(runs, _decode_stops(answer.body).stop)
            except msgspec.MsgspecError:
                return  # whoever answers so has no requests for us

    def is_to_stop(self, run: str) -> bool:
        with self._lock:
            return run in self._wanted_stops

    def _note_stops(self, asked: Iterable[str], stop: Iterable[str]) -> None:
        """Note which of the runs asked about are to stop; nobody wants that of the others, or not any more."""
        with self._lock:
            self._wanted_stops.difference_update(asked)
            self._wanted_stops.update(stop)
