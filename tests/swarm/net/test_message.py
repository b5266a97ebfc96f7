from __future__ import annotations

import math
import random

from hypothesis import given
from hypothesis import strategies as st

from strobe.swarm.net import PeerBusy, PeerRefused
from strobe.swarm.net import message as m

numbers = st.integers(0, 2**32 - 1)


@given(numbers, st.integers(0, 70_000), st.binary(min_size=1, max_size=64), st.binary(max_size=99))
def test_a_request_survives(number: int, behind: int, method: bytes, payload: bytes) -> None:
    oldest = max(0, number - behind)
    parsed = m.parse_request(m.request(number, oldest, method, payload))
    assert parsed is not None
    assert (parsed[0], parsed[2], parsed[3]) == (number, method, payload)
    assert parsed[1] <= oldest  # too little is forgotten rather than too much
    assert parsed[1] == oldest or number - oldest >= 0xFFFF


@given(numbers, st.text(max_size=600), st.one_of(st.none(), st.floats(0, 1e6)), st.booleans())
def test_a_refusal_survives(number: int, reason: str, after: float | None, busy: bool) -> None:
    refusal = PeerBusy(reason, after or 0.0) if busy else PeerRefused(reason, after)
    parsed = m.parse_refused(m.refused(number, refusal))
    assert parsed is not None
    assert type(parsed) is type(refusal)
    assert parsed.reason[:100] == reason.encode(errors="replace").decode()[:100]
    if refusal.retry_after_s is None:
        assert parsed.retry_after_s is None
    else:
        assert parsed.retry_after_s is not None
        assert math.isclose(parsed.retry_after_s, refusal.retry_after_s, rel_tol=1e-6, abs_tol=1e-30)


@given(st.binary(max_size=300))
def test_garbage_is_a_message_or_nothing(garbage: bytes) -> None:
    m.parse_request(garbage)
    m.parse_refused(garbage)
    m.Assembly().add(garbage)


@given(st.binary(min_size=101, max_size=1400), st.booleans(), st.randoms(use_true_random=False))
def test_parts_come_together_in_any_order_and_doubled(message: bytes, is_reply: bool, rng: random.Random) -> None:
    parts = m.parts(5, is_reply, message, 100)
    assert all(len(part) <= 100 for part in parts)
    last = parts.pop(rng.randrange(len(parts)))
    mixed = parts * 2
    rng.shuffle(mixed)
    assembly = m.Assembly()
    assert [assembly.add(part) for part in mixed] == [None] * len(mixed)
    assert assembly.add(last) == message
    assert len(assembly) == 0


def test_messages_that_never_become_whole_do_not_pile_up() -> None:
    assembly = m.Assembly()
    for number in range(1000):
        assembly.add(m.parts(number, False, bytes(500), 100)[0])
    assert len(assembly) <= 16


def test_parts_are_kept_while_more_of_them_come() -> None:
    assembly = m.Assembly()
    *parts, last = m.parts(1, True, bytes(500), 100)
    for part in parts:
        assert assembly.add(part) is None
        assembly.sweep()
    assert assembly.add(last) == bytes(500)
    assembly.add(last)
    assembly.sweep()
    assembly.sweep()
    assert len(assembly) == 0
