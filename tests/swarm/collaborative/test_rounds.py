"""What counts as a round, without a network: an averager that returns what the test says."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest
import torch

from strobe.errors import UsageError
from strobe.swarm.averaging import DecentralizedAverager, Round
from strobe.swarm.collaborative.rounds import AUXILIARY, MOST_CLOSING, RoundOptions, Rounds
from strobe.swarm.dht import DHT
from tests.swarm.collaborative.test_epochs import NOWHERE, round_of

pytestmark = pytest.mark.frameworks


class Ready:
    """An averager whose round is over."""

    def __init__(self, round_: Round) -> None:
        self._round = round_

    def step(self, **_: Any) -> Round:
        return self._round

    def retire(self) -> None: ...


class Told(Rounds):
    def __init__(self, round_: Round, *, auxiliary: bool = False) -> None:
        super().__init__(NOWHERE, "run", RoundOptions(auxiliary=auxiliary))
        self._ready = Ready(round_)

    def _next_averager(self, *_: Any) -> DecentralizedAverager:
        return cast(DecentralizedAverager, self._ready)  # the one method of it that is called


def averaged(round_: Round, *, auxiliary: bool = False) -> bool:
    rounds = Told(round_, auxiliary=auxiliary)
    found = rounds.average("gradients", 0, [torch.zeros(1)], weight=1.0, num_peers=2, compression="none")
    assert (rounds.num_ok["gradients"], rounds.num_failed["gradients"]) == ((1, 0) if found is not None else (0, 1))
    return found is not None


@pytest.mark.parametrize(
    ("members", "failed", "counts"),
    [
        ([None, None, None], [], True),
        ([None, None, None], [2], True),
        ([None, None, None], [1, 2], False),
        ([None, None, AUXILIARY], [1], False),
        ([None, None, AUXILIARY], [2], True),
        ([None, AUXILIARY], [], True),  # nobody else has anything to average
        ([None, AUXILIARY], [1], True),
    ],
)
def test_a_round_in_which_all_others_failed_is_none(
    members: Sequence[str | None], failed: Sequence[int], counts: bool, caplog: pytest.LogCaptureFixture
) -> None:
    assert averaged(round_of(*members, failed=failed)) == counts
    assert ("values of all the others are missing" in caplog.text) != counts


def test_helpers_alone_are_no_round() -> None:
    assert averaged(round_of(AUXILIARY, None, None, failed=[1]), auxiliary=True)
    assert not averaged(round_of(AUXILIARY, None, failed=[1]), auxiliary=True)
    assert not averaged(round_of(AUXILIARY, AUXILIARY), auxiliary=True)


# -- with a DHT, and nobody else in it


@pytest.fixture
def lonely() -> Iterator[Rounds]:
    with DHT() as dht:
        rounds = Rounds(dht, "run", RoundOptions(matchmaking_s=0.05))
        yield rounds
        rounds.close()


def why_not(rounds: Rounds, caplog: pytest.LogCaptureFixture, *, epoch: int = 0, num_peers: int = 2) -> str:
    """Return what is said of a round to which nobody came."""
    caplog.clear()
    tensors = [torch.zeros(1)]
    assert rounds.average("gradients", epoch, tensors, weight=1.0, num_peers=num_peers, compression="none") is None
    return caplog.text


def test_a_swarm_may_be_larger_than_a_group(lonely: Rounds, caplog: pytest.LogCaptureFixture) -> None:
    assert "no group was found" in why_not(lonely, caplog, num_peers=5000)


def test_a_round_can_be_tried_again(lonely: Rounds, caplog: pytest.LogCaptureFixture) -> None:
    is_over = threading.Event()
    for _ in range(MOST_CLOSING):
        lonely._closing.submit(is_over.wait, 10)  # others that are being closed take long
    try:
        for _ in range(3):
            assert "no group was found" in why_not(lonely, caplog)
    finally:
        is_over.set()


def test_tensors_are_free_when_a_round_is_over(lonely: Rounds) -> None:
    tensors = [torch.zeros(1000)]
    alive = weakref.ref(tensors[0])
    lonely.average("state", 0, tensors, weight=1.0, num_peers=2, compression="none")
    tensors.clear()
    gc.collect()
    assert alive() is None
    with pytest.raises(UsageError, match="was shut down"):
        lonely._averagers["state"].step()


def test_averagers_that_are_long_in_closing_are_waited_for_when_there_are_many(lonely: Rounds) -> None:
    class Slow:
        def shutdown(self) -> None:
            is_over.wait(10)

    is_over = threading.Event()
    slow = cast(DecentralizedAverager, Slow())  # the one method of it that is called
    for _ in range(MOST_CLOSING):
        lonely._close_later(slow)
    one_more = threading.Thread(target=lonely._close_later, args=(slow,))
    one_more.start()
    one_more.join(0.1)
    assert one_more.is_alive()
    is_over.set()
    one_more.join(10)
    assert not one_more.is_alive()
