"""Walking towards many keys at once: whom to ask next about what, without doing the asking.

Each key has the peers heard of for it, nearest first. The nearest one is asked; its answer names nearer ones; when
`patience` of the `width` nearest have answered, all of these are asked at once. A key is settled when the `width`
nearest of those that live have answered. Peers are asked about all keys that are due for them in one message, and what
becomes due while they are busy waits for the next one: that is where batching comes from.

Finding and storing are the same walk; they differ in what is asked and in when a key is finished early.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from strobe.swarm.dht.protocol import is_loopback
from strobe.swarm.net.network import Contact, PeerId

_MAX_ASKED: Final = 200  # about one key: liars who name ever nearer peers do not keep us for ever
_MAX_ELSEWHERE: Final = 4  # addresses of one peer besides the first that was named, each by another source
_MAX_UNPROVEN: Final = 16  # at one host: liars who invent peers there do not have us knock many times


class Lookup:
    """The frontier of each of `targets`. Give it contacts and outcomes; `take` says whom to ask about which."""

    def __init__(self, targets: Sequence[int], *, width: int, patience: int = 1) -> None:
        self.width = width
        self._patience = patience
        self._targets = targets
        self._near: list[list[int]] = [[] for _ in targets]
        self._asked: list[set[int]] = [set() for _ in targets]
        self._answered: list[set[int]] = [set() for _ in targets]
        self._finished: set[int] = set()
        self._wide: set[int] = set()  # keys whose nearest have all been asked: an answer alone makes nothing due
        self._changed: set[int] = set()
        self._pending: dict[int, list[int]] = {}
        self._out: set[int] = set()  # those that failed, and those that are overdue: the next nearest stand in
        self._unproven: Counter[str] = Counter()  # by host: asked without an answer, less those who answered
        self.contacts: dict[int, Contact] = {}
        self._elsewhere: dict[int, dict[PeerId, Contact]] = {}  # who says that a peer is not where it was asked first
        self._tried: set[Contact] = set()  # of peers that were said to be in several places

    def learn(self, index: int, peers: Iterable[int]) -> None:
        """Take in peers heard of for a key; their contacts must be in `contacts`."""
        near = self._near[index]
        new = [peer for peer in dict.fromkeys(peers) if peer not in near]
        if new:
            near += new
            near.sort(key=self._targets[index].__xor__)
            self._changed.add(index)

    def learn_address(self, peer: int, contact: Contact, source: PeerId) -> None:
        """Take in that somebody says a peer is elsewhere than in `contacts`: asked there if it does not answer."""
        said = self._elsewhere.setdefault(peer, {})
        if source in said or len(said) == _MAX_ELSEWHERE:
            return
        said[source] = contact
        if peer in self._out and self._move(peer):
            self._out.discard(peer)
            self._pending.pop(peer, None)
            for index, asked in enumerate(self._asked):
                if peer in asked and peer not in self._answered[index]:
                    asked.discard(peer)
                    self._changed.add(index)

    def take(self, most: int) -> tuple[int, list[int]] | None:
        """Return a peer to ask and the keys to ask about, at most `most`; None if nothing is due now."""
        if self._changed:
            for index in self._changed:
                self._plan(index)
            self._changed.clear()
        while (peer := next((peer for peer in self._pending if self._may_be_asked(peer)), None)) is not None:
            waiting = self._pending[peer]
            if len(waiting) > most:
                self._pending[peer] = waiting[most:]
                waiting = waiting[:most]
            else:
                del self._pending[peer]
            # A key may have been finished by another peer's answer since this one became due.
            if due := [index for index in waiting if index not in self._finished]:
                if (contact := self.contacts.get(peer)) is not None:
                    self._unproven[contact.host] += 1
                return peer, due
        return None

    def answered(self, peer: int, indexes: Iterable[int]) -> None:
        """Note that a peer has answered about these keys."""
        self._out.discard(peer)
        if (contact := self.contacts.get(peer)) is not None:
            self._unproven[contact.host] -= 2
        wide, changed = self._wide, self._changed
        for index in indexes:
            self._answered[index].add(peer)
            if index not in wide:
                changed.add(index)

    def failed(self, peer: int, indexes: Iterable[int]) -> None:
        """Note that a peer did not answer, or is overdue: the next nearest are asked in its place.

        Unless others say that it is elsewhere: then it is asked there.
        """
        indexes = [index for index in indexes if peer not in self._answered[index]]  # elsewhere, it may have
        if not indexes:
            return
        self._changed.update(indexes)
        if self._move(peer):
            for index in indexes:
                self._asked[index].discard(peer)
        else:
            self._out.add(peer)
            self._changed.update(self._pending.get(peer, ()))  # for others; for this one too, if it answers after all

    def finish(self, index: int) -> None:
        """Ask nobody else about this key."""
        self._finished.add(index)

    def is_finished(self, index: int) -> bool:
        """Whether nobody else is to be asked about a key."""
        return index in self._finished

    def is_settled(self, index: int) -> bool:
        """Whether nothing more is to be learned about a key."""
        return index in self._finished or self._answered[index].issuperset(self.nearest(index))

    def nearest(self, index: int) -> list[int]:
        """Return the `width` nearest peers that are not known to be out of reach."""
        near = self._near[index]
        if self._out:
            near = [peer for peer in near if peer not in self._out]
        return near[: self.width]

    def holders(self, index: int) -> set[int]:
        """Return who has answered about a key."""
        return self._answered[index]

    def _move(self, peer: int) -> bool:
        """Go on to the next address of a peer; return whether there was one."""
        if (said := self._elsewhere.get(peer)) is None:
            return False
        self._tried.add(self.contacts[peer])
        untried = next((contact for contact in said.values() if contact not in self._tried), None)
        if untried is None:
            return False
        self.contacts[peer] = untried
        return True

    def _may_be_asked(self, peer: int) -> bool:
        """Whether a peer is not out, nor were too many asked at its host for how many there are; else it waits."""
        if peer in self._out:
            return False
        contact = self.contacts.get(peer)
        if contact is None or self._unproven[contact.host] < _MAX_UNPROVEN:
            return True
        return is_loopback(contact.host)  # where nobody else lives, and those who measure have a thousand peers

    def _plan(self, index: int) -> None:
        if index in self._finished:
            return
        nearest, asked, answered = self.nearest(index), self._asked[index], self._answered[index]
        due = [peer for peer in nearest if peer not in asked]
        if not due or len(asked) >= _MAX_ASKED:
            return
        num_answered = len(answered.intersection(nearest)) if answered else 0
        if num_answered < self._patience:
            self._wide.discard(index)
            if len(nearest) - len(due) > num_answered:
                return  # one at a time, until somebody who is near has named those who are nearest
            del due[1:]
        else:
            self._wide.add(index)
        for peer in due:
            asked.add(peer)
            waiting = self._pending.get(peer)
            if waiting is None:
                self._pending[peer] = [index]
            else:
                waiting.append(index)
