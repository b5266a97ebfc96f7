"""What a peer takes of this one, over all of its sessions: its rate, its running requests, its bytes in and out.

There is one account for an identity: shaking hands again, or from another port, gives no fresh allowance. It is kept
after the peer's last session until it is as good as a new one. Counts only; whoever adds asks the limits first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from strobe.swarm.net.flow import TokenBucket
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.network import PeerId

if TYPE_CHECKING:
    from strobe.swarm.net.session import Session


class Load:
    """Bytes of large payloads that are received or worked on, and of replies that wait to be fetched or read."""

    __slots__ = ("inbound_bytes", "outbound_bytes")

    def __init__(self) -> None:
        self.inbound_bytes = 0
        self.outbound_bytes = 0


class Account(Load):
    """One peer's part of what all take."""

    __slots__ = ("_all", "bucket", "running", "sessions")

    def __init__(self, limits: Limits, everybody: Load, now: float) -> None:
        super().__init__()
        self._all = everybody
        self.bucket = TokenBucket(limits.requests_per_s, limits.burst, now)
        self.running = 0
        self.sessions: list[Session] = []

    def take_in(self, num_bytes: int) -> None:
        self.inbound_bytes += num_bytes
        self._all.inbound_bytes += num_bytes

    def take_out(self, num_bytes: int) -> None:
        self.outbound_bytes += num_bytes
        self._all.outbound_bytes += num_bytes

    def free_in(self, num_bytes: int) -> None:
        self.take_in(-num_bytes)

    def free_out(self, num_bytes: int) -> None:
        self.take_out(-num_bytes)

    def is_as_new(self, now: float) -> bool:
        """Tell whether a new account would allow the peer nothing more."""
        return not (self.running or self.inbound_bytes or self.outbound_bytes) and self.bucket.is_full(now)


class Accounts:
    """The accounts of all peers that have sessions, or had them lately."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[PeerId, Account] = {}
        #: those without a session, longest ago first
        self._left: dict[PeerId, Account] = {}
        self.all = Load()

    def of(self, peer: PeerId, now: float) -> Account:
        """Return the account of a peer that a session is made with."""
        account = self._known.get(peer)
        if account is None:
            account = self._known[peer] = Account(self._limits, self.all, now)
        return account

    def add(self, session: Session) -> None:
        session.account.sessions.append(session)
        self._left.pop(session.keys.peer_id, None)

    def remove(self, session: Session) -> None:
        account, peer = session.account, session.keys.peer_id
        account.sessions.remove(session)
        if account.sessions:
            return
        self._left[peer] = account
        if len(self._left) > self._limits.max_sessions:  # each took a handshake: who forces this pays for it
            self._forget(next(iter(self._left)))

    def sweep(self, now: float) -> None:
        for peer in [peer for peer, account in self._left.items() if account.is_as_new(now)]:
            self._forget(peer)

    def _forget(self, peer: PeerId) -> None:
        del self._left[peer], self._known[peer]

    def __len__(self) -> int:
        return len(self._known)
