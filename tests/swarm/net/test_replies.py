from __future__ import annotations

from strobe.swarm.net.account import Account, Load
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.replies import RUNNING, Large, Replies, Sent


def new_replies() -> tuple[Replies, Load]:
    load = Load()
    return Replies(Account(Limits(), load, 0)), load


def answered(replies: Replies, number: int, oldest: int = 0, size: int = 10) -> None:
    assert replies.is_new(number)
    replies.begin(number, oldest)
    replies.keep(number, bytes(size))


def test_a_request_is_new_once_whatever_became_of_its_reply() -> None:
    replies, _ = new_replies()
    replies.begin(5, 0)
    assert replies.find(5) is RUNNING
    replies.keep(5, b"reply")
    assert replies.find(5) == b"reply"
    replies.drop(5)
    assert replies.find(5) is None
    assert not replies.is_new(5)


def test_what_the_peer_has_is_forgotten() -> None:
    replies, _ = new_replies()
    for number in range(10):
        answered(replies, number)
    replies.begin(10, 7)
    assert [number for number in range(10) if replies.find(number)] == [7, 8, 9]


def test_two_sweeps_forget_what_was_not_asked_for_and_keep_what_runs() -> None:
    replies, _ = new_replies()
    answered(replies, 0)
    answered(replies, 1)
    replies.begin(2, 0)
    replies.sweep()
    assert replies.find(1) is not None
    replies.sweep()
    assert [replies.find(number) for number in range(3)] == [None, bytes(10), RUNNING]
    replies.sweep()
    replies.sweep()
    replies.keep(2, b"late")
    assert replies.find(2) == b"late"


def test_replies_are_bounded_in_bytes() -> None:
    replies, _ = new_replies()
    for number in range(1000):
        answered(replies, number, size=10_000)
        assert replies.find(7) is None or number >= 7
    assert len(replies) <= 220
    assert replies.find(999) is not None
    # the one that is asked for again and again is missing, so it stays
    assert replies.find(7) is not None


def test_what_a_stream_took_over_is_known_until_the_stream_ends() -> None:
    replies, load = new_replies()
    replies.begin(1, 0)
    replies.keep(1, Large(bytes(100)))
    replies.hand_over(1, "way")
    assert (type(replies.find(1)), load.outbound_bytes) == (Sent, 0)
    replies.lose_sent("another way")
    assert isinstance(replies.find(1), Sent)
    replies.lose_sent("way")
    assert replies.find(1) is None
    assert not replies.is_new(1)


def test_large_replies_are_counted_until_they_are_dropped() -> None:
    replies, load = new_replies()
    for number in range(4):
        replies.begin(number, 0)
    replies.keep(1, Large(bytes(100)))
    replies.keep(2, Large(bytes(200)))
    assert load.outbound_bytes == 300
    replies.drop(2)
    assert load.outbound_bytes == 100
    replies.sweep()
    replies.sweep()
    assert load.outbound_bytes == 0
    replies.keep(3, Large(bytes(300)))
    replies.close()
    replies.keep(0, Large(bytes(400)))
    assert (load.outbound_bytes, len(replies)) == (0, 0)
