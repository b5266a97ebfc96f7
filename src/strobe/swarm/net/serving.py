"""What others ask of this peer: requests, each handled once, answered where it came from.

Refuses before it works: unknown methods, peers that ask too fast, too much under way. A repeated request gets the reply
that was made for it, or the news that it is being made. Knows handlers and sessions; streams only as a way to answer.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from strobe.errors import UsageError
from strobe.swarm.net import message as m
from strobe.swarm.net.account import Account, Load
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.network import Handler, Payload, PeerBusy, PeerRefused, Pieces, Sendable
from strobe.swarm.net.replies import Large, Running, Sent
from strobe.swarm.net.session import Session

if TYPE_CHECKING:
    from strobe.swarm.net.stream import Stream

_log = logging.getLogger("strobe.swarm.net")
_BUSY_S = 0.25
_PATIENCE_S = 2.0
_BUFFERS = (bytes, bytearray, memoryview, Pieces)


class _Served(NamedTuple):
    handler: Handler
    max_payload: int


class Serving:
    """The handlers of one network and the requests they work on."""

    def __init__(self, limits: Limits, everybody: Load) -> None:
        self._limits = limits
        #: what all peers together take
        self.load = everybody
        self._methods: dict[bytes, _Served] = {}
        self._tasks: dict[tuple[int, int], asyncio.Future[Sendable]] = {}
        self.served = 0
        self.failed = 0
        self.refused = 0

    def serve(self, method: str, handler: Handler, max_payload: int | None = None) -> None:
        name = method.encode("ascii", errors="replace")
        if not 1 <= len(name) <= m.MAX_METHOD or not method.isascii():
            raise UsageError(f"method {method!r} is not 1 to {m.MAX_METHOD} ASCII characters")
        if name in self._methods:
            raise UsageError(f"method {method!r} is served already")
        limit = self._limits.max_payload
        self._methods[name] = _Served(handler, limit if max_payload is None else min(max_payload, limit))

    def unserve(self, method: str) -> None:
        if self._methods.pop(method.encode(errors="replace"), None) is None:
            raise UsageError(f"method {method!r} is not served")

    # -- large requests announce themselves before they come ---------------------------------------------------------

    def reserve(self, session: Session, method: bytes | None, size: int, now: float) -> PeerRefused | None:
        """Make room for the payload of a request, or (without method) of a reply; or return why there is none.

        Whether a reply is not too long is its call's affair.
        """
        limits, account = self._limits, session.account
        if method is not None:
            # A request is counted when it is announced: who never sends the rest is not free to announce for ever.
            refusal = self._too_fast(account, now) or _unfit(self._methods.get(method), method, size)
            if refusal is not None:
                return refusal
        if (
            account.inbound_bytes + size > limits.max_inbound_per_peer
            or self.load.inbound_bytes + size > limits.max_inbound
        ):
            return PeerBusy(f"no room for {size} bytes: other large payloads are being received", _BUSY_S)
        account.take_in(size)
        return None

    # -- requests ----------------------------------------------------------------------------------------------------

    def on_request(self, session: Session, message: bytes, now: float, way: Stream | None) -> None:
        """Handle a request that came by datagram, or whole in a frame of a stream (its `way`)."""
        parsed = m.parse_request(message)
        if parsed is not None:
            number, oldest, method, payload = parsed
            self.begin(session, number, oldest, method, payload, now, way=way)

    def is_new(self, session: Session, number: int, now: float, way: Stream | None) -> bool:
        """Tell whether a request has to be worked on; if it was seen before, say again what became of it."""
        replies = session.replies
        if replies.is_new(number):
            return True
        # To repeat an answer is what makes many bytes of few: it counts like any request.
        busy = self._too_fast(session.account, now) or self._unread(session.account, 0)
        if busy is not None:
            if way is not None:  # what came by datagram comes again
                _say(session, m.refused(number, busy), way)
            return False
        kept = replies.find(number)
        if isinstance(kept, bytes):
            _say(session, kept, way)
        elif isinstance(kept, Large):
            self._send_large(session, number, kept.payload, way)
        elif isinstance(kept, Running) or (isinstance(kept, Sent) and way is None):
            _say(session, m.note(m.WORKING, number), way)
        else:
            # It comes again by stream only when the stream before, and a reply on it, was lost. A late duplicate of
            # what was answered long ago is refused too; its caller does not listen any more.
            _say(session, m.refused(number, PeerRefused("the reply to this request was lost")), way)
        return False

    def begin(
        self,
        session: Session,
        number: int,
        oldest: int,
        method: bytes,
        payload: Payload,
        now: float,
        *,
        way: Stream | None,
        held: int = 0,
    ) -> None:
        """Start the handler, unless the request was seen before; `held` bytes are released when it is answered."""
        if not self.is_new(session, number, now, way):
            session.account.free_in(held)
            return
        session.replies.begin(number, oldest)
        session.used = now
        served = self._methods.get(method)
        refusal = (None if held else self._too_fast(session.account, now)) or self._refusal(
            session.account, served, method, len(payload)
        )
        if refusal is not None or served is None:
            self.refused += 1
            assert refusal is not None
            self._answer(session, number, refusal, way, held)
            return
        try:
            result = served.handler(session.caller, payload)
            if not isinstance(result, _BUFFERS):
                self._work_on(asyncio.ensure_future(result), session, number, method, way, held)
                return
        except PeerRefused as exc:
            self._answer(session, number, exc, way, held)
        except Exception as exc:  # noqa: BLE001 - a handler's fault is logged and must not take the peer down
            self._answer(session, number, self._failure(method, exc), way, held)
        else:
            self.served += 1
            self._answer(session, number, result, way, held)

    def _work_on(
        self,
        task: asyncio.Future[Sendable],
        session: Session,
        number: int,
        method: bytes,
        way: Stream | None,
        held: int,
    ) -> None:
        session.running += 1
        session.account.running += 1
        self._tasks[session.index, number] = task
        # A callback, not a task around it: it comes even when the task is cancelled before it began.
        task.add_done_callback(partial(self._finished, session, number, method, way, held))

    def _too_fast(self, account: Account, now: float) -> PeerBusy | None:
        """Count a request, or return why it is one too many."""
        if account.bucket.take(now):
            return None
        return PeerBusy(f"more than {self._limits.requests_per_s:g} requests per second", account.bucket.wait_s())

    def _refusal(self, account: Account, served: _Served | None, method: bytes, size: int) -> PeerRefused | None:
        limits = self._limits
        if served is None or size > served.max_payload:
            return _unfit(served, method, size)
        if account.running >= limits.max_running_per_peer or len(self._tasks) >= limits.max_running:
            return PeerBusy("too many requests under way", _BUSY_S)
        # Half of what a peer may have is left for the replies that handlers make: to refuse those comes late.
        return self._unread(account, limits.max_outbound_per_peer // 2)

    def _unread(self, account: Account, size: int) -> PeerBusy | None:
        """Return why a reply of this size has no place: others before it were not fetched or read."""
        limits, load = self._limits, self.load
        if (
            account.outbound_bytes + size > limits.max_outbound_per_peer
            or load.outbound_bytes + size > limits.max_outbound
        ):
            return PeerBusy("no room for a reply: earlier ones wait to be read", _BUSY_S)
        return None

    def _failure(self, method: bytes, fault: BaseException) -> PeerRefused:
        self.failed += 1
        _log.error("handler of %s failed", method.decode(), exc_info=fault)
        return PeerRefused(f"the handler of {method.decode()!r} failed")

    def _finished(
        self,
        session: Session,
        number: int,
        method: bytes,
        way: Stream | None,
        held: int,
        task: asyncio.Future[Sendable],
    ) -> None:
        session.running -= 1
        session.account.running -= 1
        del self._tasks[session.index, number]
        if task.cancelled():
            answer: Sendable | PeerRefused = PeerRefused("cancelled")
        elif (fault := task.exception()) is not None:
            answer = fault if isinstance(fault, PeerRefused) else self._failure(method, fault)
        elif isinstance(result := task.result(), _BUFFERS):
            answer = result
            self.served += 1
        else:
            answer = self._failure(method, TypeError(f"it returned {type(result).__name__}, not bytes"))
        self._answer(session, number, answer, way, held)

    def _answer(
        self, session: Session, number: int, answer: Sendable | PeerRefused, way: Stream | None, held: int = 0
    ) -> None:
        if held:
            session.account.free_in(held)
        if isinstance(answer, PeerRefused):
            message = m.refused(number, answer)
        elif len(answer) + m.HEAD.size > session.max_message:
            self._answer_large(session, number, answer, way)
            return
        else:
            message = m.reply(number, answer)
        session.replies.keep(number, message)
        _say(session, message, way)

    def _answer_large(self, session: Session, number: int, payload: Sendable, way: Stream | None) -> None:
        limit, size = self._limits.max_payload, len(payload)
        refusal: PeerRefused | None
        if size > limit:
            refusal = PeerRefused(f"the reply has {size} bytes, over this peer's limit of {limit}")
        else:
            refusal = self._unread(session.account, size)
        if refusal is not None:
            self._answer(session, number, refusal, way)
        else:
            session.replies.keep(number, Large(payload))
            self._send_large(session, number, payload, way)

    @staticmethod
    def _send_large(session: Session, number: int, payload: Sendable, way: Stream | None) -> None:
        stream = session.way_back(way)
        if stream is not None:
            # What a stream took over is not kept: it may be hundreds of megabytes.
            session.replies.hand_over(number, stream)
            stream.out.send_reply(number, payload)
        else:
            session.send(m.note(m.ON_STREAM, number))

    def cancel(self, session: Session, number: int) -> None:
        task = self._tasks.get((session.index, number))
        if task is not None:
            task.cancel()
        else:
            session.replies.drop(number)

    async def close(self) -> None:
        """Cancel what is being worked on, and wait a little for it."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_PATIENCE_S)


def _unfit(served: _Served | None, method: bytes, size: int) -> PeerRefused | None:
    """Return why a request of this size is not for this peer, whoever sends it."""
    name = method.decode(errors="replace")
    if served is None:
        return PeerRefused(f"no method {name!r} here")
    if size > served.max_payload:
        return PeerRefused(f"a payload of {size} bytes is over this peer's limit of {served.max_payload} for {name!r}")
    return None


def _say(session: Session, message: bytes, way: Stream | None) -> None:
    """Send a message the way the request came: who asked by stream does not send again what a datagram lost."""
    stream = None if way is None else session.way_back(way)
    if stream is not None:
        stream.out.send(message)
    else:
        session.send(message)
