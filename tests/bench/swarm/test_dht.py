"""`strobe bench swarm dht`: hivemind's lines, sensible jobs, and our peers in one process and in several."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from strobe.bench.records import append_records, read_records
from strobe.bench.swarm import benchmark, dht, throughput
from strobe.bench.swarm.bar import Bar, bar_text
from strobe.bench.swarm.benchmark import Case, Metric
from strobe.bench.swarm.event import Began
from strobe.bench.swarm.program import Phase
from strobe.bench.swarm.programs.dht_run import run, sample_uids
from strobe.bench.swarm.programs.talk import Talk
from strobe.bench.swarm.subject import STROBE, Subject
from strobe.bench.table import is_row
from strobe.errors import UsageError


def phase(name: str, seconds: float, **figures: float) -> Phase:
    return Phase(name, seconds, 0.0, 0, figures)


def test_lines_are_those_of_hivemind() -> None:
    """The page's own run, whose figures these are."""
    lines: list[str] = []
    listener = dht.Lines(dht.Job(expert_batch_size=64), lines.append, None)
    listener.began(Began("create", 1024))
    listener.began(Began("store", 256, {"uids": 16384}))
    listener.ended(phase("store", 727.46, good=48920, count=48920))
    listener.ended(phase("get", 108.73952, good=16384, count=16384))
    listener.ended(phase("survive", 0.0, alive=1024, peers=1024))
    assert lines == [
        "Creating peers...",
        "Sampled 16384 unique ids (after deduplication)",
        "Storing peers to dht in batches of 64...",
        "Store success rate: 100.0% (48920 / 48920)",
        "Mean store time: 0.01487, Total: 727.46",
        "Get success rate: 100.0 (16384 / 16384)",
        "Mean get time: 0.00664, Total: 108.73952",
        "Node survival rate: 100.000%",
    ]


def test_a_bar_tells_share_count_time_and_rate() -> None:
    text = bar_text(512, 1024, 52.5)
    assert text.startswith(" 50%|█")
    assert text.endswith("| 512/1024 [00:52<00:52,  9.75it/s]")
    assert bar_text(1, 4, 6.0).endswith("| 1/4 [00:06<00:18,  6.00s/it]")
    assert bar_text(0, 4, 0.0).endswith("[00:00<?,  0.00it/s]")


def test_a_bar_writes_only_its_end_where_nobody_watches() -> None:
    stream = io.StringIO()
    bar = Bar(4, stream=stream, clock=iter([0.0, 2.0]).__next__)
    for done in range(1, 5):
        bar.show(done)
    assert stream.getvalue() == bar_text(4, 4, 2.0) + "\n"


@pytest.mark.parametrize(
    ("job", "word"),
    [
        (dht.Job(num_peers=1), "two"),
        (dht.Job(num_experts=0), "num_experts"),
        (dht.Job(loss=1.0), "loss"),
        (dht.Job(latency=-1.0), "latency"),
        (dht.Job(num_peers=4, processes=5), "processes"),
        (dht.Job(latency=1.0), "hivemind"),
    ],
)
def test_a_job_that_makes_no_sense_is_refused(job: dht.Job, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        job.check(has_others=True)


def test_the_command_says_what_differs_from_the_defaults() -> None:
    command = benchmark.command_of("dht", dht.Job(num_peers=64, loss=0.05, plain=True))
    assert command == "strobe bench swarm dht --num_peers 64 --loss 0.05 --plain"
    command = benchmark.command_of("dht", dht.Job(expiration=1_234_567.25), repeat=3, timeout_s=60.0)
    assert command == "strobe bench swarm dht --expiration 1234567.25 --repeat 3 --timeout 60"
    forward = throughput.make_job("ffn_forward", num_clients=4)
    assert "--no-backprop" in benchmark.command_of("throughput", forward, "local").split()


def test_records_can_be_read_and_stand_in_the_table(tmp_path: Path) -> None:
    fake = Subject("fake", (sys.executable, "-m"), "tests.bench.swarm.fake_")
    metrics = (Metric("burn", "s", "less", "Burn", lambda outcome: outcome.phases["burn"].seconds),)

    class FakeJob(dht.Job, frozen=True, kw_only=True):
        cpu_s: float = 0.0
        end: str = "well"

    job = FakeJob(plain=True)
    case = Case("test", job, job.variant, lambda: dht.Lines(job, lambda text: None, None))
    (record,) = benchmark.run("program", case, metrics, [fake], repeat=2)
    append_records(tmp_path / "results.jsonl", [record])
    assert list(read_records(tmp_path / "results.jsonl")) == [record]
    assert record.samples == (42.0, 42.0)
    assert record.benchmark == "swarm-program/fake/burn/peers32-experts256-batch32-plain"
    assert is_row(record)
    assert record.command == "strobe bench swarm program --plain --peer fake --repeat 2"
    assert "| Burn | 42 s (n=2) |" in benchmark.table([record], metrics)


def measure(job: dht.Job) -> dict[str, float]:
    lines: list[str] = []
    case = Case("test", job, job.variant, lambda: dht.Lines(job, lines.append, None))
    records = benchmark.run("dht", case, dht.METRICS, [STROBE], timeout_s=60)
    assert [record.error for record in records if record.error] == []
    return {record.metric: record.samples[0] for record in records}


def test_peers_in_one_process() -> None:
    found = measure(dht.Job(num_peers=8, num_experts=20, expert_batch_size=8))
    assert (found["store_success"], found["get_success"], found["survival"]) == (100, 100, 100)
    assert found["store"] > 0
    assert found["store_messages"] > 0
    assert (found["true_holders"], found["replicas"]) == (100, 5)


@pytest.mark.slow
def test_peers_that_die_on_a_bad_path() -> None:
    found = measure(dht.Job(num_peers=20, num_experts=60, expert_batch_size=8, failure_rate=0.2, loss=0.05, latency=1))
    assert found["get_success"] >= 99.9
    assert found["survival"] == 80


@pytest.mark.slow
@pytest.mark.parametrize("num_processes", [2, 6])
def test_peers_in_processes_of_their_own(num_processes: int) -> None:
    found = measure(dht.Job(num_peers=6, num_experts=20, processes=num_processes, failure_rate=0.17))
    assert (found["store_success"], found["get_success"]) == (100, 100)
    assert found["survival"] == pytest.approx(100 * 5 / 6)


class ListeningTalk(Talk):
    """A conversation with nobody."""

    def __init__(self, job: dht.Job) -> None:
        import msgspec

        self.job = msgspec.structs.asdict(job)
        self.said: list[dict[str, object]] = []

    def say(self, **event: object) -> None:
        self.said.append(event)

    def _say_and_wait(self, **event: object) -> None:
        self.say(**event)


class PaperSwarm:
    """Counts what is asked of it; what dies is noted with how much had been done by then."""

    def __init__(self) -> None:
        self.declared: list[str] = []
        self.found: list[str] = []
        self.killed: list[int] = []

    def create(self, num_peers: int, initial_peers: int, rng: random.Random, progress: Callable[[int], None]) -> None:
        progress(num_peers)

    def declare(self, uids: list[str]) -> list[bool]:
        self.declared += uids
        return [True] * 3 * len(uids)

    def find(self, uids: list[str]) -> list[bool]:
        self.found += uids
        return [uid in self.declared for uid in uids]

    def kill(self, peer: int) -> None:
        self.killed.append(peer)

    def wait(self, seconds: float) -> None:
        pass

    def num_alive(self) -> int:
        return 10 - len(self.killed)

    def figures(self) -> dict[str, float]:
        return {}

    def judge(self, uids: list[str]) -> dict[str, float]:
        return {"judged": len(uids)}


def test_every_expert_is_declared_and_sought_once_and_the_two_who_do_it_live() -> None:
    talk = ListeningTalk(dht.Job(num_peers=10, num_experts=25, expert_batch_size=10, failure_rate=0.8))
    swarm = PaperSwarm()
    run(talk, swarm)
    assert len(swarm.declared) == 25
    assert swarm.found == swarm.declared
    assert sorted(swarm.killed) == list(range(8))
    ended = {event["phase"]: event["figures"] for event in talk.said if event["event"] == "ended"}
    assert ended["store"] == {"count": 75, "good": 75}
    assert ended["get"] == {"count": 25, "good": 25}
    assert ended["survive"] == {"alive": 2, "peers": 10, "judged": 25}


def test_ids_have_three_coordinates_and_come_once() -> None:
    uids = sample_uids(random.Random(1), 300)
    assert len(set(uids)) == len(uids)
    for uid in uids:
        prefix, *coordinates = uid.split(".")
        assert prefix == "expert"
        assert all(0 <= int(one) < 1000 for one in coordinates)
        assert len(coordinates) == 3
