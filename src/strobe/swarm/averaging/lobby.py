"""One peer's view while it looks for a group: who leads, who follows, and when it is time to begin. No I/O, no clock.

Of all who look, the one whose deadline is earliest leads (the smaller id, if two are equal): so there is an order, and
nobody waits in a circle. A peer asks the earliest that it knows; until that one lets it in it leads those who ask it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass

from strobe.swarm.averaging.group import Group, Member
from strobe.swarm.averaging.protocol import GROUP_ID_BYTES, MAX_MEMBERS, Malformed, Moved, News, Wait, begin
from strobe.swarm.net.address import Address
from strobe.swarm.net.network import PeerId

#: how far clocks of two peers may be apart: a leader whose deadline is over by ours may be about to begin
CLOCK_SKEW_S = 3.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """Somebody who looks for a group until its deadline."""

    address: Address
    deadline: float

    @property
    def rank(self) -> tuple[float, PeerId]:
        return self.deadline, self.address.id


@dataclass(slots=True)
class _Follower:
    member: Member
    heard: float


class Lobby:
    """Looking for one group. Times are those of the DHT's clock."""

    def __init__(
        self, me: Member, deadline: float, *, target_size: int | None, min_size: int, silence_s: float
    ) -> None:
        self.me = me
        self.deadline = deadline
        self.group: Group | None = None
        #: whom we follow; its own followers move on to that one
        self.leader: Candidate | None = None
        self.is_over = False
        self._is_courting = False
        self._rank = (deadline, me.id)
        self._target_size = target_size or MAX_MEMBERS
        self._min_size = min_size
        self._silence_s = silence_s
        self._candidates: dict[PeerId, Candidate] = {}
        self._refused: set[Candidate] = set()
        self._followers: dict[PeerId, _Follower] = {}

    # -- whom to follow ----------------------------------------------------------------------------------------------

    def hear(self, candidates: Iterable[Candidate]) -> None:
        """Take note of what others declare."""
        self._candidates.update((candidate.address.id, candidate) for candidate in candidates)

    def best(self, now: float) -> Candidate | None:
        """Return whom to ask: the earliest, if it is earlier than we are (one that cannot lead asks anybody)."""
        asked = [
            candidate
            for candidate in self._candidates.values()
            if candidate not in self._refused
            and candidate.address.id != self.me.id
            and candidate.deadline > now - CLOCK_SKEW_S
            and (candidate.rank < self._rank or not self.me.reduces)
        ]
        return min(asked, key=lambda candidate: candidate.rank, default=None)

    def refuse(self, candidate: Candidate) -> None:
        """Do not ask it again until it declares itself anew."""
        self._refused.add(candidate)

    def court(self) -> None:
        """Somebody is being asked to lead us: begin nothing of our own before it has answered."""
        self._is_courting = True

    def follow(self, leader: Candidate) -> None:
        """We were let in."""
        self.leader = leader

    def accept(self, group: Group, leader: Candidate) -> Group:
        """Return the group that a leader made, if we are in it as what we are; else Malformed: it lies."""
        place = group.places.get(self.me.id)
        if place is None or group.members[place] != self.me or leader.address.id not in group.places:
            raise Malformed("a group without us, or without its leader")
        if len(group.members) < self._min_size:
            raise Malformed(f"a group of {len(group.members)}, where at least {self._min_size} belong")
        return group

    def lead(self) -> None:
        """We are on our own (again)."""
        self.leader = None
        self._is_courting = False

    # -- who follows -------------------------------------------------------------------------------------------------

    def admit(self, member: Member, deadline: float, now: float) -> bool:
        """Let somebody in, if it can be; return whether it is new. `news` tells what to answer."""
        known = self._followers.get(member.id)
        if known is not None:
            known.heard = now
            if self.group is None:  # it may have begun anew, with another weight
                known.member = member
        elif self._admits(member, deadline, now):
            self._followers[member.id] = _Follower(member, now)
            return True
        return False

    def _admits(self, member: Member, deadline: float, now: float) -> bool:
        is_later = self._rank < (deadline, member.id) or not member.reduces
        is_open = self.group is None and self.leader is None and not self.is_over and self.me.reduces
        return is_open and is_later and self._size(now) < self._target_size

    def forget(self, peer_id: PeerId) -> None:
        """Somebody gave up."""
        self._followers.pop(peer_id, None)

    def news(self, peer_id: PeerId) -> News | None:
        """Return what a peer that asked is to know; None if it has nothing to expect from us."""
        if self.group is not None:
            return begin(self.group) if peer_id in self.group.places else None
        if self.is_over:
            return None
        if self.leader is not None:
            return Moved(str(self.leader.address), self.leader.deadline)
        return Wait() if peer_id in self._followers else None

    # -- when to begin -----------------------------------------------------------------------------------------------

    def begin_if_full(self, now: float, rng: random.Random) -> bool:
        """Begin as soon as nobody else is wanted; return whether that is now."""
        is_free = self.group is None and not self._is_courting and not self.is_over
        if is_free and self._size(now) >= self._target_size:
            self.begin(now, rng)
        return self.group is not None

    def begin(self, now: float, rng: random.Random) -> Group | None:
        """Begin with those who are there; None if they are too few."""
        members = [self.me, *(follower.member for follower in self._present(now))]
        if len(members) < self._min_size or not self.me.reduces:
            self.is_over = True
            return None
        # Nobody has the same place every time: places decide where one looks next.
        rng.shuffle(members)
        self.group = Group(rng.randbytes(GROUP_ID_BYTES), tuple(members))
        return self.group

    def _present(self, now: float) -> list[_Follower]:
        """Return those who have asked for news lately."""
        return [follower for follower in self._followers.values() if follower.heard >= now - self._silence_s]

    def _size(self, now: float) -> int:
        return 1 + len(self._present(now))
