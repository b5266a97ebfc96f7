"""Who is counted with whom."""

from __future__ import annotations

import pytest

from strobe.swarm.net import neighbourhoods
from strobe.swarm.net.neighbourhoods import Neighbourhoods


@pytest.mark.parametrize(
    ("one", "other", "are_neighbours"),
    [
        ("192.0.2.1", "192.0.2.200", True),
        ("192.0.2.1", "192.0.3.1", False),
        ("2001:db8::1", "2001:db8:0:0:ffff::1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%2", "fe80::2%2", True),
        ("peer.example", "peer.example", True),
        ("peer.example", "192.0.2.1", False),
    ],
)
def test_neighbours_share_a_bucket(one: str, other: str, are_neighbours: bool) -> None:
    buckets = Neighbourhoods(1.0, 0.5)
    assert buckets.take(one, 0.0)
    assert not buckets.take(one, 0.5)
    assert buckets.take(other, 0.5) != are_neighbours
    assert buckets.take(one, 1.5)


def test_those_are_forgotten_that_were_not_heard_from_for_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbourhoods, "_MAX_KEPT", 2)
    buckets = Neighbourhoods(1.0, 1.0)
    for host in ("192.0.1.1", "192.0.2.1", "192.0.1.2", "192.0.3.1"):
        buckets.take(host, 0.0)
    assert [buckets.take(host, 0.0) for host in ("192.0.1.1", "192.0.2.1")] == [False, True]
