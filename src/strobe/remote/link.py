"""A connection to a server: one request in, one of three answers out, never an exception for what a network does.

A server must say that it is a Strobe server before it is sent a key, and again after each time it could not be reached:
another program may listen there by then. All threads that talk to one server share its link, so that they share one
pace and the same back-off too. What is sent is not known here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sized
from random import Random
from typing import Literal, Protocol

import msgspec
import urllib3

from strobe._version import __version__
from strobe.remote.answer import Answer, Ok, Refused, Retry
from strobe.remote.lane import Lane
from strobe.remote.pace import Pace
from strobe.remote.route import open_pool, round_trip
from strobe.remote.target import Target, with_key
from strobe.wire import OLDEST_PROTOCOL, PROTOCOL, PROTOCOL_HEADER

#: how many requests may be under way at once
CONNECTIONS = 4
_CONNECT_S = 10.0
_SLICE = 32 << 10
_LONGEST_ANSWER = 16 << 20
_LONGEST_WAIT_S = 3600.0
#: answers of a server have its protocol version among their headers
_MARK = PROTOCOL_HEADER.lower()
_PASSING = frozenset({408, 425, 429, 507})
_POINTS = frozenset({"/ingest", "/heartbeat"})

LaneName = Literal["points", "things"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much the server takes at once, in bytes."""

    batch_bytes: int = 4 << 20
    request_bytes: int = 16 << 20
    part_bytes: int = 8 << 20
    bundle_bytes: int = 8 << 20


class Handshake(msgspec.Struct, frozen=True, kw_only=True):
    """What a server says of itself."""

    server: str
    version: str = ""
    #: oldest and newest protocol that it speaks
    protocols: tuple[int, int] = (1, 1)
    auth: bool = False
    entity: str | None = None
    limits: Limits = Limits()


# Made here, once: msgspec crashes when threads are the first to decode a type at the same moment.
_decode_handshake = msgspec.json.Decoder(Handshake).decode


class Body(Sized, Protocol):
    """Something to send of known length that can be read from its start, again if need be."""

    def slices(self) -> Iterator[bytes]: ...


class Link:
    """The way to one server for one key. Thread safe."""

    def __init__(
        self,
        target: Target,
        *,
        rng: Random | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
        longest_answer: int = _LONGEST_ANSWER,
    ) -> None:
        self.target = target
        self._longest_answer = longest_answer
        self.server: Handshake | None = None
        self._key: str | None = None
        #: whether the server was reached before, and whether it marks its answers as its own
        self._is_known = self._is_marked = False
        #: bytes of bodies sent so far, whatever became of them
        self.num_sent = 0
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._shaking = threading.Lock()
        chance = rng or Random()
        self.lanes: dict[LaneName, Lane] = {"points": Lane(chance), "things": Lane(chance)}
        self._pace = Pace(target.bytes_per_s or None, automatic=target.bytes_per_s is None)
        self._pool, self._problem = open_pool(target, CONNECTIONS)

    @property
    def limits(self) -> Limits:
        return self.server.limits if self.server else Limits()

    def hold_s(self, lane: LaneName = "points") -> float:
        """Return the seconds for which requests of that kind are of no use."""
        with self._lock:
            return self.lanes[lane].hold_s(self._clock())

    def failing_for(self) -> float:
        """Return for how many seconds requests of some kind have not worked."""
        with self._lock:
            now = self._clock()
            return max(lane.backoff.failing_for(now) for lane in self.lanes.values())

    def connect(self, lane: LaneName = "points") -> Answer:
        """See that a Strobe server is there whose protocol we speak."""
        with self._shaking:
            if self.server is not None:
                return Ok(200)
            answer = self._exchange("GET", "/api/v1/server", None, {}, lane)
            if not isinstance(answer, Ok):
                return answer
            try:
                found = _decode_handshake(answer.body)
            except msgspec.MsgspecError:
                found = Handshake(server="")
            if found.server != "strobe":
                return self._note_stranger(lane)
            oldest, newest = found.protocols
            if oldest > PROTOCOL:
                return Refused(f"the server needs a newer Strobe than {__version__} here; pip install -U strobe")
            if newest < OLDEST_PROTOCOL:
                return Refused(f"the server (Strobe {found.version}) is too old for Strobe {__version__} here")
            self._key = with_key(self.target).api_key
            self._is_marked = _MARK in answer.headers
            self._is_known = True
            self.server = found
            return answer

    def _note_stranger(self, lane: LaneName) -> Answer:
        """Return what it means that somebody else answers: it passes where the server itself was reached before."""
        if not self._is_known:
            return Refused(f"{self.target.base_url} is not a Strobe server; set base_url to one")
        passing = Retry(f"{self.target.base_url}: something else answers there just now, not a Strobe server")
        with self._lock:
            self.lanes[lane].note(passing, self._clock())
        return passing

    def request(
        self,
        method: str,
        path: str,
        body: bytes | Body | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request under /api/v1 and return what came of it."""
        lane: LaneName = "points" if path in _POINTS else "things"
        if self.server is None and not isinstance(answer := self.connect(lane), Ok):
            return answer
        sent = {PROTOCOL_HEADER: str(PROTOCOL), **(headers or {})}
        if self._key:
            sent["Authorization"] = f"Bearer {self._key}"
        answer = self._exchange(method, "/api/v1" + path, body, sent, lane)
        if answer.status == 401:
            self.server = None  # the next time the key is read again: a person may have put another one into the file
        return answer

    def post(self, path: str, content: object) -> Answer:
        """Send a JSON document."""
        return self.request("POST", path, msgspec.json.encode(content), {"Content-Type": "application/json"})

    def close(self) -> None:
        if self._pool is not None:
            self._pool.clear()

    def _exchange(
        self, method: str, path: str, body: bytes | Body | None, headers: dict[str, str], name: LaneName
    ) -> Answer:
        if self._pool is None:
            return Refused(self._problem)
        lane = self.lanes[name]
        with self._lock:
            lane.num_out += 1
        try:
            answer = self._attempt(self._pool, method, path, body, headers)
        finally:
            with self._lock:
                lane.num_out -= 1
        with self._lock:
            lane.note(answer, self._clock())
            if isinstance(answer, Retry) and not answer.status:
                self.server = None
        return answer

    def _attempt(
        self, pool: urllib3.PoolManager, method: str, path: str, body: bytes | Body | None, headers: dict[str, str]
    ) -> Answer:
        headers = {"User-Agent": f"strobe/{__version__}", "Accept": "application/json", **headers}
        if body is not None:
            headers["Content-Length"] = str(len(body))
        timeout = urllib3.Timeout(connect=min(_CONNECT_S, self.target.timeout_s), read=self.target.timeout_s)
        try:
            response = pool.request(
                method,
                self.target.base_url + path,
                body=None if body is None else self._metered(body),
                headers=headers,
                timeout=timeout,
                retries=False,
                redirect=False,
                preload_content=False,
            )
            try:
                trip_s = round_trip(response)
                content = self._read(response)
            finally:
                response.release_conn()
        except urllib3.exceptions.LocationParseError as error:
            return Refused(f"base_url {self.target.base_url!r} is no address: {error}")
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            return Retry(f"{self.target.base_url}: {_describe(error)}")
        with self._lock:
            if trip_s is not None:
                self._pace.note_round_trip(trip_s, self._clock())
        answer = judge(response.status, dict(response.headers), content, now=time.time())
        if isinstance(answer, Ok) and self._is_marked and PROTOCOL_HEADER in headers and _MARK not in answer.headers:
            # A network that wants its terms accepted says 200 to everything; believing it would lose what was sent.
            return Retry(f"{self.target.base_url}: HTTP {answer.status}, but something on the way answered, not Strobe")
        return answer

    def _metered(self, body: bytes | Body) -> Iterator[bytes]:
        for piece in _slices(body) if isinstance(body, bytes) else body.slices():
            with self._lock:
                wait_s = self._pace.take(len(piece), self._clock())
                self.num_sent += len(piece)
            if wait_s > 0:
                self._sleep(wait_s)
            yield piece

    def _read(self, response: urllib3.BaseHTTPResponse) -> bytes:
        until = self._clock() + self.target.timeout_s
        content = bytearray()
        read = getattr(response, "read1", response.read)  # what is there; older urllib3 waits for all of it
        while piece := read(64 << 10):
            content += piece
            if len(content) > self._longest_answer:
                raise ValueError(f"an answer of more than {self._longest_answer} bytes")
            if self._clock() > until:  # a byte now and then keeps a socket's time-out from ever coming
                raise TimeoutError(f"the answer was not complete after {self.target.timeout_s:g} s")
        return bytes(content)


def judge(status: int, headers: Mapping[str, str], content: bytes, *, now: float) -> Answer:
    """Return what an HTTP answer means."""
    if 200 <= status < 300 or status == 304:
        return Ok(status, content, {name.lower(): text for name, text in headers.items()})
    lowered = {name.lower(): text for name, text in headers.items()}
    why = f"HTTP {status}: {_problem_text(content) or 'no reason given'}"
    if status >= 500 or status in _PASSING:
        return Retry(why, retry_after(lowered.get("retry-after", ""), now), status)
    if 300 <= status < 400:
        return Refused(f"HTTP {status}: it is at {lowered.get('location', '?')} now; set base_url to that", status)
    return Refused(why, status)


def retry_after(text: str, now: float) -> float:
    """Return the seconds that a Retry-After header asks for, 0 where it says nothing sensible."""
    try:
        seconds = float(text)
    except ValueError:
        from email.utils import parsedate_to_datetime

        try:
            seconds = parsedate_to_datetime(text).timestamp() - now
        except (ValueError, TypeError):
            return 0.0
    return min(max(0.0, seconds), _LONGEST_WAIT_S) if seconds == seconds else 0.0


def _problem_text(content: bytes) -> str:
    try:
        found = msgspec.json.decode(content)
    except msgspec.MsgspecError:
        return content[:200].decode(errors="replace").strip()
    if not isinstance(found, dict):
        return ""
    return str(found.get("detail") or found.get("title") or found.get("error") or "")


def _slices(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), _SLICE):
        yield body[start : start + _SLICE]


def _describe(error: Exception) -> str:
    """Return urllib3's story without the object at its start."""
    text = str(error) or type(error).__name__
    text = text.partition("): ")[2] or text if text.startswith(("HTTP", "<", "(")) else text
    return f"{text}; if it is to be trusted, set ca_bundle" if "CERTIFICATE_VERIFY_FAILED" in text else text
