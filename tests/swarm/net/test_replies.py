from __future__ import annotations

from strobe.swarm.net.replies import RUNNING, SENT, Large, Replies


def answered(replies: Replies, number: int, oldest: int = 0, size: int = 10) -> None:
    assert replies.is_new(number)
    replies.begin(number, oldest)
    replies.keep(number, bytes(size))


def test_a_request_is_new_once_whatever_became_of_its_reply() -> None:
    replies = Replies()
    replies.begin(5, 0)
    assert replies.find(5) is RUNNING
    replies.keep(5, b"reply")
    assert replies.find(5) == b"reply"
    replies.drop(5)
    assert replies.find(5) is None
    assert not replies.is_new(5)


def test_what_the_peer_has_is_forgotten() -> None:
    replies = Replies()
    for number in range(10):
        answered(replies, number)
    replies.begin(10, 7)
    assert [number for number in range(10) if replies.find(number)] == [7, 8, 9]


def test_two_sweeps_forget_what_was_not_asked_for_and_keep_what_runs() -> None:
    replies = Replies()
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
    replies = Replies()
    for number in range(1000):
        answered(replies, number, size=10_000)
        assert replies.find(7) is None or number >= 7
    assert len(replies) <= 220
    assert replies.find(999) is not None
    # the one that is asked for again and again is missing, so it stays
    assert replies.find(7) is not None


def test_what_a_stream_took_over_is_known_until_the_stream_ends() -> None:
    replies = Replies()
    replies.begin(1, 0)
    replies.keep(1, Large(bytes(100)))
    replies.hand_over(1)
    assert (replies.find(1), replies.num_large) == (SENT, 0)
    replies.lose_sent()
    assert replies.find(1) is None
    assert not replies.is_new(1)


def test_large_replies_are_counted() -> None:
    replies = Replies()
    replies.begin(1, 0)
    replies.keep(1, Large(bytes(100)))
    assert replies.num_large == 1
    replies.sweep()
    replies.sweep()
    assert (replies.num_large, len(replies)) == (0, 0)
