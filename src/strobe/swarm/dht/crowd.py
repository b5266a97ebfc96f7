"""Who has to go when a record is full: whoever has most of it, where what has an owner counts for less.

The entries of one source that have an owner are a party, and those that have none are another. The party that has most
loses what expires soonest of it; a newcomer that would itself have to go is turned away, and then nothing changes. All
of it takes a time that hardly grows with the record: who is turned away may come back at once, many times in a message.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple, TypeAlias

from strobe.swarm.dht.share import Share

#: whether its entries have an owner, and the source that they are from
Party: TypeAlias = tuple[bool, Hashable]

#: what has an owner counts so many times less, so that entries without one, of however many sources, do not crowd it
#: out. It does count: one who signs junk must not crowd out all who do not sign.
_OWNED_WEIGHT: Final = 16
_MIN_RANKING: Final = 64


class Member(NamedTuple):
    """An entry, as far as it matters here; those of one party are in the order in which they go."""

    expires: float
    subkey: bytes
    cost: int
    party: Party


class Crowd:
    """The books of one full record: its entries by party, and the parties in the order in which they lose some."""

    def __init__(self, members: Iterable[Member]) -> None:
        self._members: dict[bytes, Member] = {}
        self._shares: dict[Party, Share[Member]] = {}
        #: (-weight, number, party): who has most comes first; only the last number of a party counts
        self._ranking: list[tuple[float, int, Party]] = []
        self._numbers: dict[Party, int] = {}
        self._last_number = 0
        for member in members:
            self.put(member)

    def put(self, member: Member) -> None:
        """Take an entry in, in place of the one that has its subkey."""
        self.remove(member.subkey)
        self._members[member.subkey] = member
        if (share := self._shares.get(member.party)) is None:
            share = self._shares[member.party] = Share(self._is_current)
        share.num_entries += 1
        share.size_bytes += member.cost
        heappush(share.heap, member)
        self._rank(member.party, share)

    def remove(self, subkey: bytes) -> None:
        """Strike out an entry, if it is there."""
        if (member := self._members.pop(subkey, None)) is None:
            return
        share = self._shares[member.party]
        share.subtract(member.cost)
        if share.num_entries:
            self._rank(member.party, share)
        else:
            del self._shares[member.party], self._numbers[member.party]

    def make_room(self, newcomer: Member, excess: int) -> list[bytes] | None:
        """Take a newcomer in; return whose subkeys went to free `excess` bytes. None if it is turned away."""
        former = self._members.get(newcomer.subkey)
        self.put(newcomer)
        gone: list[Member] = []
        while excess > 0:
            gone.append(first := self._pop_first())
            excess -= first.cost
            if first is newcomer:
                for member in gone[:-1]:
                    self.put(member)
                if former is not None:
                    self.put(former)
                return None
        return [member.subkey for member in gone]

    def _pop_first(self) -> Member:
        while True:
            _, number, party = self._ranking[0]
            if self._numbers.get(party) != number:
                heappop(self._ranking)
            elif self._is_current(member := self._shares[party].pop()):
                self.remove(member.subkey)
                return member

    def _rank(self, party: Party, share: Share[Member]) -> None:
        self._last_number += 1
        self._numbers[party] = self._last_number
        weight = share.size_bytes / _OWNED_WEIGHT if party[0] else share.size_bytes
        heappush(self._ranking, (-weight, self._last_number, party))
        if len(self._ranking) > 2 * len(self._shares) + _MIN_RANKING:
            self._ranking = [rank for rank in self._ranking if self._numbers.get(rank[2]) == rank[1]]
            heapify(self._ranking)

    def _is_current(self, member: Member) -> bool:
        return self._members.get(member.subkey) is member
