"""The sessions a peer has: by contact for those who call, by index for what comes in; bounded, and renewed with age.

A session that is too old takes no new calls, so the next call shakes hands again; what is under way on it ends there.
"""

from __future__ import annotations

from strobe.swarm.net.account import Accounts
from strobe.swarm.net.handshakes import Dial, HalfOpen
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.network import Contact, PeerId
from strobe.swarm.net.ports import SocketAddress
from strobe.swarm.net.session import Session

#: two handshakes within this time met each other on the way
_CROSSING_S = 5.0
#: a session is quiet when nothing happened for this long
_QUIET_S = 8.0
_GONE_S = 60.0
#: sweeps after which even those are looked at that rest: a thousand peers in one process have tens of thousands
_SWEEPS_PER_ROUND = 16


class Sessions:
    """All sessions of one network, and the indices that handshakes share with them."""

    def __init__(self, own_id: PeerId, limits: Limits) -> None:
        self._own_id = own_id
        self._limits = limits
        self._by_contact: dict[Contact, Session] = {}
        self._by_remote: dict[int, Session] = {}
        self._all: dict[Session, None] = {}
        self._num_sweeps = 0
        self.accounts = Accounts(limits)
        self.indices: dict[int, Session | Dial | HalfOpen] = {}

    def __len__(self) -> int:
        return len(self._all)

    def get(self, contact: Contact) -> Session | None:
        """Return the session for new calls to a contact."""
        return self._by_contact.get(contact)

    def at(self, index: int) -> Session | None:
        session = self.indices.get(index)
        return session if type(session) is Session else None

    def known_as(self, remote_index: int) -> Session | None:
        """Return the session that its peer knows by an index; of several by the same the newest."""
        return self._by_remote.get(remote_index)

    def install(self, session: Session) -> list[Session]:
        """Take a new session; returns those that had to make room."""
        self._all[session] = None
        self._by_remote[session.remote_index] = session
        self.accounts.add(session)
        contact = session.contact
        other = self._by_contact.get(contact)
        if other is None or not self._crossed(other, session):
            self._by_contact[contact] = session
        evicted = []
        for known, most in (
            (session.account.sessions, self._limits.max_sessions_per_peer),
            (self._all, self._limits.max_sessions),
        ):
            if len(known) > most:
                oldest = min((each for each in known if each is not session), key=_keeping)
                self._forget(oldest)
                evicted.append(oldest)
        return evicted

    def _crossed(self, older: Session, newer: Session) -> bool:
        """Tell whether two dials met and the older session is the one that both sides choose: the lower id's."""
        if newer.born - older.born > _CROSSING_S or older.is_dialled == newer.is_dialled:
            return False
        return older.is_dialled == (self._own_id < older.keys.peer_id)

    def move(self, session: Session, address: SocketAddress) -> None:
        """Note that a peer has proven to be elsewhere: its NAT has changed its port."""
        self.drop(session)
        session.address = address
        session.caller = session.caller._replace(contact=session.port.contact(session.keys.peer_id, address))
        self._by_contact[session.contact] = session

    def drop(self, session: Session) -> None:
        """Use a session for no new call."""
        if self._by_contact.get(session.contact) is session:
            del self._by_contact[session.contact]

    def _forget(self, session: Session) -> None:
        self.drop(session)
        del self._all[session], self.indices[session.index]
        if self._by_remote.get(session.remote_index) is session:
            del self._by_remote[session.remote_index]
        self.accounts.remove(session)
        session.replies.close()

    def sweep(self, now: float) -> list[Session]:
        """Let quiet sessions rest, retire old ones; returns those that are gone."""
        gone = []
        self.accounts.sweep(now)
        self._num_sweeps += 1
        is_round = self._num_sweeps % _SWEEPS_PER_ROUND == 0
        for session in list(self._all):
            if session.is_resting and not session.streams and not is_round:
                continue
            session.replies.sweep()
            if session.elsewhere is not None and session.elsewhere.expires_at < now:
                session.elsewhere = None
            if session.is_spent or now - session.born > self._limits.session_lifetime_s:
                self.drop(session)
            replaced = self._by_contact.get(session.contact) is not session
            quiet_s = now - session.used
            if session.is_idle and quiet_s > (_GONE_S if replaced else self._limits.session_lifetime_s):
                self._forget(session)
                gone.append(session)
            elif quiet_s > _QUIET_S:
                session.rest()
        return gone


def _keeping(session: Session) -> tuple[bool, float]:
    return not session.is_idle, session.used
