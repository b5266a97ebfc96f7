from __future__ import annotations

from strobe.swarm.net.account import Account, Load
from strobe.swarm.net.limits import Limits
from strobe.swarm.net.replies import QUIET_SWEEPS, RUNNING, Large, Replies, Sent


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


def sweep(replies: Replies, times: int) -> None:
    for _ in range(times):
        replies.sweep()


def test_replies_are_kept_while_their_peer_comes_back_and_for_as_long_as_callers_wait() -> None:
    replies, _ = new_replies()
    answered(replies, 0)
    answered(replies, 1)
    replies.begin(2, 0)
    sweep(replies, QUIET_SWEEPS)
    assert replies.find(1) is not None
    sweep(replies, QUIET_SWEEPS)
    assert [replies.find(number) for number in range(3)] == [bytes(10), bytes(10), RUNNING]
    sweep(replies, QUIET_SWEEPS + 1)
    assert [replies.find(number) for number in range(3)] == [None, None, RUNNING]


def test_what_took_long_to_answer_is_kept_no_shorter() -> None:
    replies, _ = new_replies()
    replies.begin(0, 0)
    sweep(replies, 10 * QUIET_SWEEPS)
    replies.keep(0, b"late")
    sweep(replies, QUIET_SWEEPS)
    assert replies.find(0) == b"late"


def test_replies_are_bounded_in_bytes() -> None:
    replies, _ = new_replies()
    for number in range(1000):
        answered(replies, number, size=10_000)
        assert replies.find(7) is None or number >= 7
    assert len(replies) <= 220
    assert replies.find(999) is not None
    # the one that is asked for again and again is missing, so it stays
    assert replies.find(7) is not None


def test_short_replies_and_traces_of_large_ones_are_bounded_in_number() -> None:
    replies, load = new_replies()
    for number in range(50_000):
        if number % 2:
            answered(replies, number, size=1)
        else:
            replies.begin(number, 0)
            replies.keep(number, Large(bytes(1)))
            replies.hand_over(number, "way")
    assert 10_000 < len(replies) < 25_000
    assert load.outbound_bytes == 0
    for number in range(50_000):
        replies.drop(number)
    assert replies._bytes == 0


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
    sweep(replies, QUIET_SWEEPS + 1)
    assert load.outbound_bytes == 0
    replies.keep(3, Large(bytes(300)))
    replies.close()
    replies.keep(0, Large(bytes(400)))
    assert (load.outbound_bytes, len(replies)) == (0, 0)
