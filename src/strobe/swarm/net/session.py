"""A pair of peers that have proven themselves to each other on one path: keys, counters and what is under way.

Turns messages into sealed datagrams and back; cuts and joins what is too long for one. There is a session per contact,
whoever began it. It knows nothing of methods, handlers and time-outs: those who call and serve keep their books here.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from strobe.swarm.net import message as m
from strobe.swarm.net.account import Account
from strobe.swarm.net.cipher import Cipher, InvalidTag, Suite
from strobe.swarm.net.flow import RoundTrip, Window
from strobe.swarm.net.handshake import Keys
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.network import Caller, Contact
from strobe.swarm.net.packet import DATA, HEADER
from strobe.swarm.net.ports import Port, SocketAddress
from strobe.swarm.net.replay import ReplayWindow
from strobe.swarm.net.replies import Replies

if TYPE_CHECKING:
    from strobe.swarm.net.calls import Call
    from strobe.swarm.net.moves import Elsewhere
    from strobe.swarm.net.stream import Stream

#: Longer ones go by stream: in parts they would cost more than they save.
_MAX_MESSAGE = 32 << 10
#: with the counter as it stands in the packet this is `nonce(counter)`, without a call for each datagram
_NONCE_HEAD = bytes(4)
_MAX_NUMBER = 1 << 31
_MAX_COUNTER = 1 << 40


class _Warm:
    """Both ciphers of a session, ready for use: 5 KB that most of many sessions can do without most of the time."""

    __slots__ = ("into", "out")

    def __init__(self) -> None:
        self.out: Cipher | None = None
        self.into: Cipher | None = None

    def cool(self) -> None:
        self.out = self.into = None


#: The ciphers in use in this process, oldest first: a thousand peers of one process share this allowance.
_warm: deque[_Warm] = deque()
_MAX_WARM = 2048


class Session:
    """One peer, as seen from here."""

    __slots__ = (
        "_assembly",
        "_counter",
        "_room",
        "_suite",
        "_warm",
        "_window_in",
        "account",
        "address",
        "attached",
        "attaches",
        "born",
        "caller",
        "calls",
        "elsewhere",
        "finish",
        "index",
        "is_dialled",
        "is_resting",
        "keys",
        "max_message",
        "next_number",
        "port",
        "remote_index",
        "replies",
        "round_trip",
        "running",
        "streams",
        "used",
        "waiting",
        "window",
    )

    def __init__(
        self,
        *,
        suite: Suite,
        keys: Keys,
        index: int,
        remote_index: int,
        port: Port,
        address: SocketAddress,
        account: Account,
        limits: Limits,
        now: float,
    ) -> None:
        self._suite = suite
        self.keys = keys
        self.index = index
        self.remote_index = remote_index
        self.port = port
        self.address = address
        self.born = self.used = now
        #: another address that it was heard from
        self.elsewhere: Elsewhere | None = None
        #: who the peer is and where it was reached
        self.caller = Caller(port.contact(keys.peer_id, address), keys.public[:32])
        self._room = port.room(address) - HEADER.size - suite.tag_bytes
        #: longest message that goes by datagrams
        self.max_message = min(m.MAX_PARTS * (self._room - 16), _MAX_MESSAGE)
        self._warm = _Warm()
        self._counter = 0
        self._window_in = ReplayWindow()
        self._assembly = m.Assembly()
        #: the last packet of the handshake, kept by its initiator until the peer shows that it has it
        self.finish: bytes | None = None
        #: whether this side began
        self.is_dialled = False
        #: whether nothing has happened since `rest` that time has to clear away
        self.is_resting = False
        # what this side asks
        self.next_number = 0
        self.calls: dict[int, Call] = {}
        self.waiting: deque[Call] | None = None
        self.round_trip = RoundTrip()
        self.window = Window(limits.max_in_flight_per_peer)
        # what the other side asks
        self.account = account
        self.replies = Replies(account)
        self.running = 0
        # streams
        #: newest last. Two when both sides opened one at once: each goes on with what it has begun on it.
        self.streams: tuple[Stream, ...] = ()
        self.attaches = 0
        self.attached = ReplayWindow()

    @property
    def contact(self) -> Contact:
        return self.caller.contact

    @property
    def stream(self) -> Stream | None:
        """The connection for what begins now."""
        return self.streams[-1] if self.streams else None

    def way_back(self, way: Stream | None) -> Stream | None:
        """Return the connection that something came by, if it is still there: who reads it is who caused the answer."""
        return way if way in self.streams else self.stream

    @property
    def is_spent(self) -> bool:
        """Whether numbers run out and a new session has to take over."""
        return self.next_number >= _MAX_NUMBER or self._counter >= _MAX_COUNTER

    @property
    def heard_up_to(self) -> int:
        """The number of the newest datagram of the peer: it stays the same while nothing comes."""
        return self._window_in.top

    @property
    def is_idle(self) -> bool:
        return not self.calls and not self.waiting and not self.running and not self.streams

    def seal(self, message: bytes) -> bytes:
        """Return the datagram that carries a message which fits in one."""
        cipher = self._warm.out or self._warm_up()[0]
        counter = self._counter
        self._counter = counter + 1
        head = HEADER.pack(DATA, self.remote_index, counter)
        return head + cipher.encrypt(_NONCE_HEAD + head[5:], message, None)

    def send(self, message: bytes) -> None:
        """Send a message of at most `max_message` bytes, in parts if need be."""
        if self.finish is not None:
            self._send_with_finish(message, self.finish)
            return
        if len(message) <= self._room:
            self.port.send(self.seal(message), self.address)
            return
        kind, number = m.HEAD.unpack_from(message)
        for part in m.parts(number, kind != m.REQUEST, message, self._room):
            self.port.send(self.seal(part), self.address)

    def _send_with_finish(self, message: bytes, finish: bytes) -> None:
        # Whatever comes first, or comes at all, finishes the handshake: loss and reordering cost no round trip.
        if len(message) + len(finish) <= self._room:
            self.port.send(finish + self.seal(message), self.address)
            return
        self.port.send(finish, self.address)
        self.finish = None
        self.send(message)
        self.finish = finish

    def open(self, packet: bytes, counter: int) -> bytes | None:
        """Return the message of a datagram: None if it is forged, repeated, or a part of something not complete."""
        window = self._window_in
        if counter <= window.top and not window.is_fresh(counter):
            return None
        cipher = self._warm.into or self._warm_up()[1]
        try:
            message = cipher.decrypt(_NONCE_HEAD + packet[5:13], packet[13:], None)
        except InvalidTag:
            return None
        window.mark(counter)
        self.finish = None
        if len(message) < m.HEAD.size:
            return None
        return self._joined(message) if message[0] == m.PART else message

    def _joined(self, part: bytes) -> bytes | None:
        parsed = m.parse_part(part)
        if parsed is None:
            return None
        number, is_reply, index, _ = parsed
        if is_reply:
            if number not in self.calls:
                return None
        elif not self.replies.is_new(number):
            # Sent again because the reply is missing: no need to wait for all of it, and one part is enough to ask.
            return m.note(m.AGAIN, number) if index == 0 else None
        whole = self._assembly.add(part)
        # A part names the message it is of: what comes out has to be that one, and no part again.
        if whole is None or len(whole) < m.HEAD.size or whole[0] == m.PART:
            return None
        return whole if m.HEAD.unpack_from(whole)[1] == number else None

    def rest(self) -> None:
        """Give back what can be made again: called when the session has been quiet for a while."""
        self._warm.cool()
        self._assembly.sweep()  # no request has begun of late, but one or a reply may be coming in parts
        is_clear = not (self.replies or self._assembly or self.elsewhere)
        self.is_resting = self.is_idle and is_clear

    def _warm_up(self) -> tuple[Cipher, Cipher]:
        self.is_resting = False
        ciphers = self._suite.cipher(self.keys.send), self._suite.cipher(self.keys.receive)
        self._warm.out, self._warm.into = ciphers
        _warm.append(self._warm)
        if len(_warm) > _MAX_WARM:
            _warm.popleft().cool()
        return ciphers
