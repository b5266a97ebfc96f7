"""The seam between what a peer says and how it gets there: calls by method name to contacts, nothing else.

Everything above (the DHT, experts) talks through `Network`; real sockets (`PeerNetwork`) and a simulation both
implement it. It knows nothing of keys, packets, sizes or retries, and must not import any of them.

    NetworkError               base of what `call` raises
    ├── PeerUnreachable        no answer in time, or the peer there is not the one that was called
    │   └── NoRoute            nothing can be sent there from where this peer listens
    └── PeerRefused            the peer answered, and the answer is no: `reason`, `retry_after_s`
        ├── PeerBusy           not now; the same call may work after `retry_after_s`
        └── ReplyTooLarge      it is more than the caller takes: as good as none

A handler raises PeerRefused or PeerBusy to say so to its caller; any other exception is logged where it happened and
reaches the caller as PeerRefused without its text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, NewType, Protocol, TypeAlias

from strobe.errors import Error

if TYPE_CHECKING:
    from asyncio import Future

    from strobe.swarm.net.address import Address
    from strobe.swarm.net.identity import Identity

#: 20 bytes derived from the peer's public keys; `identity.peer_text` writes it as base32
PeerId = NewType("PeerId", bytes)

#: What a payload may be. Large ones arrive as a memoryview of a buffer that belongs to whoever received it.
Payload: TypeAlias = bytes | bytearray | memoryview


class Pieces:
    """A payload in several buffers (of bytes), to be sent one after the other without being joined first."""

    __slots__ = ("_size", "parts")

    def __init__(self, parts: Iterable[Payload]) -> None:
        self.parts = [part for part in parts if len(part)]
        self._size = sum(map(len, self.parts))

    def __len__(self) -> int:
        return self._size

    def joined(self) -> bytes:
        return b"".join(self.parts)


#: What can be sent. It arrives as a Payload, whatever it was.
Sendable: TypeAlias = Payload | Pieces


class Contact(NamedTuple):
    """Who a peer is and where it is heard: a numeric IPv4 or IPv6 host (a name is resolved, which costs a lookup)."""

    id: PeerId
    host: str
    port: int
    #: the peer that listens there and passes on what is for `id`; None when `id` listens there itself
    relay: PeerId | None = None


class Caller(NamedTuple):
    """The authenticated peer a request came from, and the address it was seen at (where it can be called back)."""

    contact: Contact
    #: the Ed25519 key that `contact.id` is derived from: what the peer's signatures verify against
    public_key: bytes

    @property
    def id(self) -> PeerId:
        return self.contact.id


#: A handler that has nothing to wait for is a plain function (it is answered without a task); others are coroutines.
Handler: TypeAlias = Callable[[Caller, Payload], "Sendable | Awaitable[Sendable]"]


class NetworkError(Error):
    """A call to a peer did not succeed."""


class PeerUnreachable(NetworkError):
    """The peer did not answer in time, or nothing there is that peer."""


class NoRoute(PeerUnreachable):
    """From where this peer listens nothing gets to the host of that one."""


class PeerRefused(NetworkError):
    """The peer answered that it will not do it."""

    def __init__(self, reason: str, retry_after_s: float | None = None) -> None:
        super().__init__(reason if retry_after_s is None else f"{reason} (retry after {retry_after_s:g} s)")
        self.reason = reason
        self.retry_after_s = retry_after_s


class PeerBusy(PeerRefused):
    """The peer has no room for the call now; `retry_after_s` says when to ask again."""

    retry_after_s: float

    def __init__(self, reason: str, retry_after_s: float = 1.0) -> None:
        super().__init__(reason, retry_after_s)


class ReplyTooLarge(PeerRefused):
    """The peer has an answer of more bytes than the call takes, which was not read."""


class Network(Protocol):
    """One peer's way to all others. Belongs to one event loop; not thread-safe."""

    @property
    def identity(self) -> Identity: ...

    @property
    def address(self) -> Address:
        """Where others reach this peer now; a peer that is reached through others may move."""

    async def moved(self, since: Address) -> Address:
        """Return the address as soon as it is another one than `since`."""

    def serve(self, method: str, handler: Handler, *, max_payload: int | None = None) -> None:
        """Answer calls of `method` (1 to 64 ASCII characters) with what the handler returns, once per call.

        A request of more than `max_payload` bytes is refused before it is read; None leaves the network's own limit.
        """

    def unserve(self, method: str) -> None:
        """Refuse calls of `method` from now on; those that its handler works on are still answered."""

    def begin(
        self, peer: Contact, method: str, payload: Sendable, *, timeout_s: float, max_reply: int | None = None
    ) -> Future[Payload] | None:
        """Begin a call, if this peer and that one are in touch: the future is what `call` returns or raises.

        None if they are not, or what they are is not known: `call` then. Cancelling the future gives up the call.
        """

    async def call(
        self, peer: Contact, method: str, payload: Sendable, *, timeout_s: float, max_reply: int | None = None
    ) -> Payload:
        """Return the peer's answer. Raises PeerUnreachable, PeerRefused or PeerBusy; cancelling it gives up the call.

        `payload` is not copied: leave it alone until the call has returned. An answer of more than `max_reply` bytes is
        not read, and raises ReplyTooLarge; None leaves the network's own limit.
        """

    async def close(self) -> None:
        """Stop serving, fail what is outstanding, free the port."""
