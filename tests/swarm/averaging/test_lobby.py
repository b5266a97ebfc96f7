"""Who leads whom, decided without a network and without a clock."""

from __future__ import annotations

import random
from typing import Any

import pytest

from strobe.swarm.averaging import protocol as p
from strobe.swarm.averaging.group import Group, Member, Role
from strobe.swarm.averaging.lobby import CLOCK_SKEW_S, Candidate, Lobby
from strobe.swarm.net.address import Address
from strobe.swarm.net.network import PeerId

pytestmark = pytest.mark.frameworks

RNG = random.Random(0)
NOW = 1000.0


def address(number: int) -> Address:
    return Address(PeerId(bytes([number]) * 20), ("127.0.0.1",), 4000 + number)


def member(number: int, role: Role = "full") -> Member:
    return Member(address=address(number), role=role)


def candidate(number: int, deadline: float) -> Candidate:
    return Candidate(address(number), deadline)


def lobby(me: Member, deadline: float = NOW + 5, **chosen: Any) -> Lobby:
    return Lobby(me, deadline, **{"target_size": 3, "min_size": 2, "silence_s": 3.0, **chosen})


def test_the_earliest_is_asked_first_and_a_later_one_never() -> None:
    mine = lobby(member(5))
    mine.hear([candidate(6, NOW + 6), candidate(4, NOW + 4), candidate(3, NOW + 3), candidate(5, NOW + 1)])
    assert mine.best(NOW) == candidate(3, NOW + 3)
    mine.refuse(candidate(3, NOW + 3))
    assert mine.best(NOW) == candidate(4, NOW + 4)
    mine.refuse(candidate(4, NOW + 4))
    assert mine.best(NOW) is None
    mine.hear([candidate(3, NOW + 4.5)])  # declared anew
    assert mine.best(NOW) == candidate(3, NOW + 4.5)


def test_of_two_with_the_same_deadline_the_smaller_id_leads() -> None:
    mine, theirs = lobby(member(5)), lobby(member(6))
    mine.hear([candidate(6, NOW + 5)])
    theirs.hear([candidate(5, NOW + 5)])
    assert mine.best(NOW) is None
    assert theirs.best(NOW) == candidate(5, NOW + 5)
    assert mine.admit(member(6), NOW + 5, NOW)
    assert not theirs.admit(member(5), NOW + 5, NOW)


def test_one_whose_time_is_over_is_not_asked() -> None:
    mine = lobby(member(5))
    mine.hear([candidate(1, NOW - CLOCK_SKEW_S)])
    assert mine.best(NOW) is None


def test_a_client_follows_anybody_and_leads_nobody() -> None:
    mine = lobby(member(5, "client"))
    mine.hear([candidate(6, NOW + 6)])
    assert mine.best(NOW) == candidate(6, NOW + 6)
    assert not mine.admit(member(7), NOW + 9, NOW)
    assert mine.begin(NOW + 5, RNG) is None
    assert lobby(member(1)).admit(member(2, "client"), NOW + 1, NOW)  # although its deadline is earlier


def test_a_group_begins_when_it_is_full() -> None:
    mine = lobby(member(1))
    assert mine.admit(member(2), NOW + 6, NOW)
    assert isinstance(mine.news(member(2).id), p.Wait)
    assert not mine.begin_if_full(NOW, RNG)
    assert mine.admit(member(3), NOW + 7, NOW)
    assert mine.begin_if_full(NOW, RNG)
    assert mine.group is not None
    assert sorted(mine.group.places) == [member(number).id for number in (1, 2, 3)]
    news = mine.news(member(3).id)
    assert isinstance(news, p.Begin)
    assert p.parse_group(news) == mine.group
    assert not mine.admit(member(4), NOW + 8, NOW)
    assert mine.news(member(4).id) is None


def test_a_follower_that_begins_anew_is_in_the_group_as_what_it_is_now() -> None:
    mine = lobby(member(1))
    again = Member(address=address(2), weight=7.0, gathered=b"\xc3")
    assert mine.admit(member(2), NOW + 6, NOW)
    assert not mine.admit(again, NOW + 8, NOW + 2)
    group = mine.begin(NOW + 5, RNG)
    assert group is not None
    assert lobby(again).accept(group, candidate(1, NOW + 5)) is group
    assert not mine.admit(member(2), NOW + 9, NOW + 6)  # the others know it as that
    assert again in group.members
    assert mine.news(again.id) == p.begin(group)


def test_at_the_deadline_a_group_begins_with_those_who_were_heard_of_lately() -> None:
    mine = lobby(member(1))
    mine.admit(member(2), NOW + 6, NOW)
    mine.admit(member(3), NOW + 6, NOW + 3)
    group = mine.begin(NOW + 5, RNG)
    assert group is not None
    assert set(group.places) == {member(1).id, member(3).id}


def test_too_few_are_no_group_and_hear_so() -> None:
    mine = lobby(member(1), min_size=3)
    mine.admit(member(2), NOW + 6, NOW)
    assert mine.begin(NOW + 1, RNG) is None
    assert mine.news(member(2).id) is None


def test_followers_move_on_with_their_leader() -> None:
    mine = lobby(member(5))
    mine.admit(member(6), NOW + 6, NOW)
    mine.court()
    mine.admit(member(7), NOW + 6, NOW)
    assert not mine.begin_if_full(NOW, RNG), "somebody else may be about to let us in"
    mine.follow(candidate(1, NOW + 1))
    assert mine.news(member(6).id) == p.Moved(str(address(1)), NOW + 1)
    assert not mine.admit(member(8), NOW + 8, NOW)
    assert mine.news(member(8).id) == p.Moved(str(address(1)), NOW + 1)
    mine.lead()
    assert mine.begin_if_full(NOW, RNG)


def test_who_has_given_up_begins_nothing() -> None:
    mine = lobby(member(5))
    mine.admit(member(6), NOW + 6, NOW)
    mine.court()
    mine.admit(member(7), NOW + 6, NOW)
    mine.lead()
    mine.is_over = True
    assert not mine.begin_if_full(NOW, RNG)
    assert mine.news(member(6).id) is None


@pytest.mark.parametrize(
    "members",
    [
        [member(1), member(2)],  # we are not in it
        [member(5), member(2)],  # nor is the leader
        [member(1)],
        [Member(address=address(5), weight=7.0), member(1)],  # we as somebody else
        [member(5)],
    ],
)
def test_a_group_that_its_leader_made_up_is_not_accepted(members: list[Member]) -> None:
    with pytest.raises(p.Malformed):
        lobby(member(5)).accept(Group(bytes(16), tuple(members)), candidate(1, NOW))
