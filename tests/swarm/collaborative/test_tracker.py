"""Reports through a real DHT: heard by others, written by their owner only, gone when a peer leaves."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import strobe
from strobe.swarm.collaborative.progress import Progress
from strobe.swarm.collaborative.report import PeerReport, progress_key
from strobe.swarm.collaborative.tracker import Tracker
from strobe.swarm.dht import DHT, Node, get_dht_time
from strobe.swarm.telemetry import Telemetry
from tests.swarm.collaborative.peers import LOOKS, Peer, peers, swarm, wait_until

pytestmark = pytest.mark.frameworks


@contextlib.contextmanager
def trackers(*dhts: DHT, word: str = "word") -> Iterator[list[Tracker]]:
    made = [Tracker(dht, "run", Progress(100, LOOKS), word=word) for dht in dhts]
    with contextlib.ExitStack() as stack:
        for tracker in made:
            tracker.start()
            stack.callback(tracker.stop)
        yield made


def test_peers_hear_of_each_other_and_of_those_who_leave() -> None:
    with swarm(3) as dhts, trackers(*dhts) as [one, two, three]:
        assert not two.report(epoch=0, samples=60, samples_per_s=5.0).is_ready
        one.report(epoch=0, samples=39, samples_per_s=1.0)
        wait_until(lambda: one.outlook.samples == 99 and one.outlook.num_peers == 3)
        assert one.report(epoch=0, samples=40, samples_per_s=1.0).is_ready
        wait_until(lambda: three.outlook.is_ready)
        two.stop()
        wait_until(lambda: one.outlook.num_peers == 2)
        assert one.outlook.samples == 40


def test_who_is_ahead_offers_its_state_unless_it_is_distrusted() -> None:
    with swarm(2) as dhts, trackers(*dhts) as [one, two]:
        two.report(epoch=3, samples=0, samples_per_s=0.0)
        wait_until(lambda: one.look().epoch == 3)
        [source] = one.sources(above_epoch=2)
        assert (source.address, source.word) == (dhts[1].address, "word")
        assert one.sources(above_epoch=3) == []
        one.distrust(source.mark)
        assert (one.outlook.epoch, one.sources(0)) == (0, [])
        assert one.look().epoch == 0


def test_one_who_offers_nothing_has_no_address() -> None:
    with swarm(2) as dhts, trackers(dhts[0]) as [one], trackers(dhts[1], word="") as [two]:
        two.report(epoch=3, samples=0, samples_per_s=0.0)
        wait_until(lambda: one.look().epoch == 3)
        assert one.sources(0) == []


def test_nobody_reports_for_another() -> None:
    with swarm(3) as [dht, other_dht, liar_dht], trackers(dht, other_dht) as [one, two]:
        one.report(epoch=0, samples=10, samples_per_s=0.0)
        one.look()
        record = dht.get(progress_key("run"), latest=True)
        assert record is not None
        [mark] = record.value.keys() - {two._mark}

        async def lie(node: Node) -> None:
            value = PeerReport(epoch=9, samples=0, samples_per_s=0.0, time=get_dht_time(), client_mode=False)
            await node.store(progress_key("run"), msgspec.to_builtins(value), get_dht_time() + 90, subkey=mark)

        liar_dht.run_coroutine(lie)  # it keeps no rules, and holds whatever it likes
        outlook = two.look()
        assert (outlook.epoch, outlook.samples) == (0, 10)


def test_figures_arrive_in_a_run(tmp_path: Path) -> None:
    with peers(2, target=64) as [one, two], strobe.init(project="p", dir=tmp_path) as run:
        with Telemetry(run, {"optimizer": one.optimizer.figures}, period_s=60):
            one.batch(0, 16)
            one.batch(1, 16)
            two.batch(2, 16)
            wait_until(lambda: one.optimizer.outlook.samples == 48)
        summary = dict(run.summary)
        assert summary["swarm/optimizer/peers"] == 2
        assert summary["swarm/optimizer/samples"] == 48
        assert summary["swarm/optimizer/samples_per_s"] > 0
        assert summary["swarm/optimizer/epoch"] == 0


def test_a_peer_may_come_back_under_the_same_identity(tmp_path: Path) -> None:
    with DHT() as first:
        for _ in range(2):
            with DHT([first.address], identity_path=tmp_path / "peer.key") as dht:
                peer = Peer(dht, target=8)
                with peer.optimizer:
                    peer.batch(0, 8)
                    assert peer.optimizer.local_epoch == 1
