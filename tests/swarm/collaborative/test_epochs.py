"""How epochs end, by what is heard of others and what becomes of rounds: no network, nobody is waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
import torch

from strobe.swarm.averaging import Round
from strobe.swarm.collaborative.epochs import EpochOptions, Epochs
from strobe.swarm.collaborative.progress import Progress
from strobe.swarm.collaborative.report import PeerReport
from strobe.swarm.collaborative.rounds import Purpose, RoundOptions, Rounds
from strobe.swarm.collaborative.state import Snapshot
from strobe.swarm.collaborative.tracker import Tracker
from strobe.swarm.collaborative.training import TrainingState
from strobe.swarm.dht import DHT, DhtStopped, get_dht_time
from strobe.swarm.net.identity import Identity
from strobe.swarm.net.network import PeerId
from tests.swarm.collaborative.peers import LOOKS

pytestmark = pytest.mark.frameworks

TARGET = 16


def peer_id(number: int) -> PeerId:
    return Identity(bytes([number]) * 32).peer_id


class NoDht:
    """Brings the news that a test has prepared: all that is known of others is what it says."""

    client_mode = False
    peer_id = peer_id(0)

    def __init__(self) -> None:
        self.news: list[Callable[[], Any]] = []

    def run_coroutine(self, work: Any) -> Any:
        if not self.news:
            raise DhtStopped("there is none")
        return self.news.pop(0)()


NOWHERE = cast(DHT, NoDht())  # the little of a DHT that is used here


class Scripted(Rounds):
    """Rounds that end as the test says; without a word of it, nobody comes."""

    def __init__(self) -> None:
        super().__init__(NOWHERE, "run", RoundOptions())
        self.ends: list[Round | None] = []
        self.asked: list[tuple[Purpose, int, int]] = []

    def average(
        self,
        purpose: Purpose,
        epoch: int,
        tensors: Sequence[torch.Tensor],
        *,
        weight: float,
        num_peers: int,
        compression: str,
    ) -> Round | None:
        self.asked.append((purpose, epoch, num_peers))
        return self.ends.pop(0) if self.ends else None


def round_of(*gathered: str | None, failed: Sequence[int] = ()) -> Round:
    """Return a round of so many members, of which this peer is the first."""
    members = tuple(peer_id(number) for number in range(len(gathered)))
    return Round(
        members=members,
        gathered=dict(zip(members, gathered, strict=True)),
        failed=frozenset(members[number] for number in failed),
        seconds=0.1,
        matchmaking_seconds=0.1,
    )


def report(epoch: int, samples: int = 0, **more: Any) -> PeerReport:
    return PeerReport(epoch=epoch, samples=samples, samples_per_s=1.0, time=get_dht_time(), client_mode=False, **more)


class Swarm:
    """One peer with a parameter of its own, and what it hears."""

    def __init__(self, **options: Any) -> None:
        self.parameter = torch.nn.Parameter(torch.zeros(1))
        self.state = TrainingState(torch.optim.SGD([self.parameter], lr=1.0))
        self.progress = Progress(TARGET, LOOKS)
        self.rounds = Scripted()
        self.dht = NoDht()
        dht = cast(DHT, self.dht)
        tracker = Tracker(dht, "run", self.progress)
        self.epochs = Epochs(dht, "run", self.state, tracker, self.rounds, EpochOptions(**options))

    def hears(self, *reports: PeerReport) -> None:
        self.progress.heard({f"peer {number}": said for number, said in enumerate(reports)}, get_dht_time())

    def will_hear(self, *reports: PeerReport) -> None:
        """Have this be what the next look brings."""
        self.dht.news.append(lambda: self.hears(*reports))

    def steps(self, samples: int, gradient: float = 1.0) -> None:
        """Do what a training does with a batch."""
        self.parameter.grad = torch.full((1,), gradient)
        self.epochs.take(samples)
        self.epochs.move()


# -- those who are ahead and have nothing to show


def test_an_auxiliary_peer_that_found_no_group_stays_where_the_others_are() -> None:
    swarm = Swarm(auxiliary=True)
    swarm.hears(report(0, 16))
    swarm.epochs.move()
    assert (swarm.rounds.asked, swarm.state.epoch) == ([("gradients", 0, 2)], 0)
    swarm.rounds.ends = [round_of("auxiliary", None, None)]
    swarm.epochs.move()
    assert swarm.state.epoch == 1


def test_those_who_are_together_do_not_follow_one_who_has_nothing_to_show() -> None:
    swarm = Swarm()
    swarm.hears(report(0, 8), report(1))
    swarm.steps(7)
    assert (swarm.state.epoch, swarm.parameter.item(), swarm.rounds.asked) == (0, 0.0, [])
    swarm.hears(report(0, 8), report(1))
    swarm.rounds.ends = [round_of(None, None)]
    swarm.steps(1)
    assert swarm.rounds.asked[0] == ("gradients", 0, 2)
    assert (swarm.state.epoch, swarm.epochs.num_alone) == (1, 0)


def test_one_who_is_alone_in_its_epoch_follows() -> None:
    swarm = Swarm()
    swarm.hears(report(1))
    swarm.steps(8)
    assert (swarm.state.epoch, swarm.parameter.item()) == (1, -1.0)


def test_local_updates_are_not_made_twice_by_one_who_follows() -> None:
    swarm = Swarm(use_local_updates=True)
    swarm.hears(report(1))
    swarm.steps(8)
    assert (swarm.state.epoch, swarm.parameter.item()) == (1, -1.0)


# -- those who average without this peer


def test_who_is_left_out_waits_for_those_who_average_and_takes_their_state() -> None:
    swarm = Swarm()
    swarm.hears(report(0, 8))
    for _ in range(3):
        swarm.will_hear(report(0, 8, is_averaging=True))
    swarm.will_hear(report(1, word="word", address=f"strobe://{'a' * 32}@127.0.0.1:4000"))
    swarm.dht.news.append(lambda: Snapshot(1, {}))  # a download
    swarm.steps(8)
    assert (swarm.epochs.num_alone, swarm.epochs.num_downloads, swarm.parameter.item()) == (0, 1, 0.0)


@pytest.mark.parametrize("is_gone", [True, False])
def test_nobody_is_waited_for_who_does_not_average_or_is_not_heard_of(is_gone: bool) -> None:
    swarm = Swarm()
    swarm.hears(report(0, 8, is_averaging=is_gone))
    if not is_gone:
        swarm.will_hear(report(0, 8))
    swarm.steps(8)
    assert (swarm.epochs.num_alone, swarm.parameter.item()) == (1, -1.0)


def test_others_are_not_waited_for_longer_than_a_round_takes() -> None:
    swarm = Swarm(averaging_timeout_s=0.2)
    swarm.hears(report(0, 8))
    for _ in range(100):
        swarm.will_hear(report(0, 8, is_averaging=True))
    swarm.steps(8)
    assert swarm.epochs.num_alone == 1
    assert len(swarm.dht.news) > 90


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (round_of(None, "auxiliary", "auxiliary"), None),
        (round_of(None, None, None, "auxiliary"), 3),
        (round_of(None, None, None, failed=[2]), 2),
    ],
)
def test_states_are_averaged_with_those_who_have_one_and_are_there(first: Round, expected: int | None) -> None:
    swarm = Swarm()
    swarm.hears(report(0, 8))
    swarm.rounds.ends = [first]
    swarm.steps(8)
    assert swarm.rounds.asked[1:] == ([] if expected is None else [("state", 1, expected)])


@pytest.mark.parametrize("ahead", [0, 1])
def test_nobody_copies_a_state_between_its_step_and_its_epoch(ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    swarm = Swarm()
    if ahead:
        swarm.hears(report(1))
    copies: list[Snapshot] = []
    reader = threading.Thread(target=lambda: copies.append(swarm.state.snapshot()))
    advance = swarm.state.advance

    def read_and_advance(epoch: int) -> None:
        reader.start()
        reader.join(0.1)  # as long as it likes, if the state can be had
        advance(epoch)

    monkeypatch.setattr(swarm.state, "advance", read_and_advance)
    swarm.steps(TARGET)
    reader.join(10)
    [copy] = copies
    assert (copy.epoch, copy.tensors["param.0"].item()) == (1, -1.0)
