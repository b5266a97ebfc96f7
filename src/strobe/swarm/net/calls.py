"""What this peer asks of others: calls from the moment they are made until they are answered, refused or given up.

A call waits for a handshake, for room in the peer's window, or for its answer; it is sent again when the answer takes
longer than the peer's round trips do. One tick for all of them, not a timer for each. Knows sessions and time, no
sockets; what is too large for datagrams is handed to `to_stream`.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from strobe.swarm.net import message as m
from strobe.swarm.net.identity import peer_text
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.network import Contact, Payload, PeerRefused, PeerUnreachable, ReplyTooLarge, Sendable
from strobe.swarm.net.seen import MAX_UNANSWERED
from strobe.swarm.net.session import Session

if TYPE_CHECKING:
    from strobe.swarm.net.stream import Stream

#: how long a peer that said it is working is left alone
_PATIENCE_S = 2.0
_MOST_RESEND_S = 1.0
#: times that a call moves to a new session or stream because the old one was lost
MAX_MOVES = 5


class Call:
    """One request of this side."""

    __slots__ = (
        "contact",
        "deadline",
        "future",
        "heard_up_to",
        "is_long",
        "max_reply",
        "message",
        "method",
        "moves",
        "number",
        "on_stream",
        "payload",
        "resend_at",
        "sends",
        "sent_at",
        "session",
        "stream",
    )

    def __init__(
        self,
        contact: Contact,
        method: bytes,
        payload: Sendable,
        future: asyncio.Future[Payload],
        deadline: float,
        max_reply: int,
    ) -> None:
        self.contact = contact
        self.method = method
        self.payload = payload
        self.future = future
        self.deadline = deadline
        self.max_reply = max_reply
        self.session: Session | None = None
        self.number = -1
        #: what was sent by datagram, to be sent again
        self.message: bytes | None = None
        #: whether it goes by stream, and by which; that may still have to be opened
        self.on_stream = False
        self.stream: Stream | None = None
        self.sends = 0
        self.sent_at = 0.0
        self.resend_at = 0.0
        #: the newest that had come of the peer when the call was sent a second time
        self.heard_up_to = -1
        self.moves = 0
        #: whether it takes the peer longer than the way there and back, as it said itself
        self.is_long = False

    def is_unheard(self, session: Session) -> bool:
        """Tell whether it was sent again, and nothing at all has come back since."""
        return self.sends > 1 and self.heard_up_to == session.heard_up_to

    def excess(self, size: int) -> ReplyTooLarge | None:
        """Return why a reply of this size is not taken, if it is not."""
        if size <= self.max_reply:
            return None
        return ReplyTooLarge(
            f"{_peer(self)} answers {self.method.decode(errors='replace')!r} with {size} bytes; "
            f"at most {self.max_reply} are taken"
        )


class Calls:
    """All calls of one network."""

    def __init__(self, limits: Limits, to_stream: Callable[[Session, Call], None]) -> None:
        self._limits = limits
        self._to_stream = to_stream
        self._in_flight = 0
        #: sessions with calls that wait for room, in the order in which they get it
        self._hungry: dict[Session, None] = {}
        self.live: set[Call] = set()
        self.resends = 0

    def start(self, session: Session, call: Call) -> None:
        """Send a call on a session, or queue it until the session has room; large ones wait only for a number."""
        call.session = session
        if len(session.calls) < MAX_UNANSWERED and (
            len(call.payload) + m.OVERHEAD > session.max_message
            or (not session.waiting and session.window.has_room() and self._in_flight < self._limits.max_in_flight)
        ):
            self._send(session, call)
            return
        if session.waiting is None:
            session.waiting = deque()
        session.waiting.append(call)
        self._hungry[session] = None

    def _send(self, session: Session, call: Call) -> None:
        call.number = session.next_number
        session.next_number += 1
        session.calls[call.number] = call
        if len(call.payload) + m.OVERHEAD > session.max_message:
            call.on_stream = True
            self._to_stream(session, call)
            return
        call.message = m.request(call.number, next(iter(session.calls)), call.method, call.payload)
        session.window.in_flight += 1
        self._in_flight += 1
        call.sends = 1
        call.sent_at = now = time.monotonic()
        call.resend_at = now + session.round_trip.timeout_s
        session.send(call.message)

    def leave(self, call: Call, *, answered: bool = False) -> None:
        """Take a call off the books of its session and let the next one go."""
        session = call.session
        call.session = None
        if session is None:
            return
        if call.number < 0:
            if session.waiting is not None and call in session.waiting:
                session.waiting.remove(call)
            return
        session.calls.pop(call.number, None)
        call.number = -1
        call.on_stream = False
        call.stream = None
        if call.message is not None:
            call.message = None
            self._in_flight -= 1
            if answered:
                session.window.answered()
            else:
                session.window.in_flight -= 1
        if session.waiting or self._hungry:
            self._feed(session)

    def take_back(self, session: Session) -> list[Call]:
        """Take all calls off a session that is lost; returns those that have to be made anew."""
        waiting, session.waiting = session.waiting or (), None
        self._hungry.pop(session, None)
        calls = [call for call in [*session.calls.values(), *waiting] if not call.future.done()]
        for call in calls:
            self.leave(call)
        return calls

    def _feed(self, session: Session) -> None:
        """Let those go that wait for the room which a session has made: its own first, then others'."""
        if session.waiting:
            self._pump(session)
        while self._hungry and self._in_flight < self._limits.max_in_flight:
            hungry = next(iter(self._hungry))
            del self._hungry[hungry]
            self._pump(hungry)
            if hungry.waiting and _has_room(hungry):  # no room left in all: it stays first in line
                self._hungry = {hungry: None, **self._hungry}
                return

    def _pump(self, session: Session) -> None:
        waiting = session.waiting
        while waiting and _has_room(session) and self._in_flight < self._limits.max_in_flight:
            call = waiting.popleft()
            if not call.future.done():
                self._send(session, call)
        if not waiting:
            session.waiting = None
            self._hungry.pop(session, None)

    # -- answers -----------------------------------------------------------------------------------------------------

    def replied(self, session: Session, number: int, payload: Payload, *, in_chunks: bool = False) -> None:
        call = session.calls.get(number)
        if call is None:
            return
        if call.message is not None and not call.is_long and not in_chunks:  # else it is no measure of the path
            session.round_trip.learn(time.monotonic() - call.sent_at, call.sends)
        self.leave(call, answered=True)
        if call.future.done():
            return
        if (excess := call.excess(len(payload))) is not None:
            call.future.set_exception(excess)
        else:
            call.future.set_result(payload)

    def refused(self, session: Session, number: int, refusal: PeerRefused) -> None:
        call = session.calls.get(number)
        if call is None:
            return
        self.leave(call, answered=True)
        if not call.future.done():
            call.future.set_exception(refusal)

    def working(self, session: Session, number: int) -> None:
        call = session.calls.get(number)
        if call is not None:
            call.is_long = True
            call.resend_at = time.monotonic() + _PATIENCE_S

    def reply_on_stream(self, session: Session, number: int) -> None:
        """Fetch by stream what is too large for datagrams: the same request, known to the peer by its number."""
        call = session.calls.get(number)
        if call is None or call.on_stream:
            return
        call.on_stream = True
        if call.message is not None:
            call.message = None
            self._in_flight -= 1
            session.window.answered()
        self._to_stream(session, call)
        self._feed(session)

    # -- time --------------------------------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        for call in [call for call in self.live if call.deadline <= now or call.resend_at <= now]:
            if call.future.done():
                continue
            if call.deadline <= now:
                call.future.set_exception(PeerUnreachable(_unanswered(call)))
            elif call.message is not None and call.session is not None:
                self._resend(call, call.session, call.message, now)

    def _resend(self, call: Call, session: Session, message: bytes, now: float) -> None:
        self.resends += 1
        if call.sends == 1:
            call.heard_up_to = session.heard_up_to
        session.window.lost(now, session.round_trip.timeout_s)
        call.resend_at = now + min(session.round_trip.timeout_s * 2**call.sends, _MOST_RESEND_S)
        call.sends += 1
        session.send(message)


def _has_room(session: Session) -> bool:
    return session.window.has_room() and len(session.calls) < MAX_UNANSWERED


def _peer(call: Call) -> str:
    contact = call.contact
    return f"{peer_text(contact.id)} at {contact.host} port {contact.port}"


def _unanswered(call: Call) -> str:
    state = "no session" if call.session is None else f"sent {call.sends} times" if call.sends else "not sent yet"
    return (
        f"{_peer(call)} did not answer {call.method.decode(errors='replace')!r} in time ({state}); "
        "it may be down, or its UDP port blocked"
    )
