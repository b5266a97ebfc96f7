"""The threads that compute: never idle while work waits."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import nn

from strobe.swarm.experts import ExpertBackend, parse_uid
from strobe.swarm.experts.engine import Engine, Outcome, Stage
from strobe.swarm.experts.meter import Meter
from strobe.swarm.experts.runtime import Runtime
from strobe.swarm.experts.work import Job, Pool, WorkQueue
from strobe.swarm.net.network import PeerId, PeerRefused

pytestmark = pytest.mark.frameworks

CLIENT = PeerId(bytes(20))


class Calling(nn.Module):  # type: ignore[misc]
    """Gives back its input, after a call."""

    def __init__(self, call: Callable[[], object]) -> None:
        super().__init__()
        self.call = call

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.call()
        return x


def pool(uid: str, call: Callable[[], object] = lambda: None) -> Pool:
    module = Calling(lambda: None)
    backend = ExpertBackend(parse_uid(uid), module, (torch.zeros(1, 1),), max_batch_size=1)
    module.call = call  # not when it is tried
    return Pool(backend, is_backward=False)


def job(where: Pool, prepare: Callable[[], object] = lambda: None) -> Job:
    def unpack() -> list[torch.Tensor]:
        prepare()
        return [torch.zeros(1, 1)]

    return Job(where, CLIENT, 1, unpack)


@contextmanager
def running(jobs: list[Job], deliver: Callable[[list[Outcome]], None], num_threads: int) -> Iterator[None]:
    """Compute jobs that wait from the beginning."""
    waiting = WorkQueue()
    for each in jobs:
        waiting.put(each)
    runtime = Runtime(waiting, Engine(waiting, Meter()), deliver, num_threads=num_threads)
    runtime.start()
    try:
        yield
    finally:
        waiting.close()
        runtime.stop()


def test_while_jobs_wait_the_next_batch_begins_as_soon_as_the_one_before_is_done() -> None:
    begun: list[float] = []
    ended: list[float] = []
    done = threading.Event()

    def compute() -> None:
        begun.append(time.perf_counter())
        time.sleep(0.03)
        ended.append(time.perf_counter())
        if len(ended) == 20:
            done.set()

    where = pool("slow.0", compute)
    with running([job(where) for _ in range(20)], lambda outcomes: None, num_threads=1):
        assert done.wait(30)
    idle_s = sum(later - earlier for earlier, later in zip(ended, begun[1:], strict=False))
    assert idle_s < (ended[-1] - begun[0]) / 3


def test_with_two_threads_a_batch_gets_ready_while_another_is_in_its_expert() -> None:
    is_ready, is_computed = threading.Event(), threading.Event()
    # The first one is not done before the second is unpacked: a runtime that waits for it would wait for ever.
    first = job(pool("first.0", lambda: is_computed.set() if is_ready.wait(30) else None))
    second = job(pool("second.0"), is_ready.set)
    with running([first, second], lambda outcomes: None, num_threads=2):
        assert is_computed.wait(30)


def test_with_two_threads_answers_are_packed_while_the_next_batch_is_computed() -> None:
    is_next, is_packed = threading.Event(), threading.Event()
    where = pool("one.0")
    first, second = job(where), job(where, is_next.set)

    def pack(outcomes: list[Outcome]) -> None:
        if outcomes[0][0] is first and is_next.wait(30):
            is_packed.set()

    with running([first, second], pack, num_threads=2):
        assert is_packed.wait(30)


def test_a_delivery_that_fails_does_not_end_the_thread(caplog: pytest.LogCaptureFixture) -> None:
    delivered = threading.Event()

    def deliver(outcomes: list[Outcome]) -> None:
        if outcomes[0][0] is first:
            raise MemoryError
        delivered.set()

    where = pool("one.0")
    first = job(where)
    with running([first, job(where)], deliver, num_threads=1):
        assert delivered.wait(30)
    assert "answers of expert one.0 are lost" in caplog.text


def test_those_who_wait_for_a_batch_that_was_lost_are_told(caplog: pytest.LogCaptureFixture) -> None:
    told: queue.Queue[Outcome] = queue.Queue()

    def deliver(outcomes: list[Outcome]) -> None:
        if any(not isinstance(outcome, PeerRefused) for _, outcome in outcomes):
            raise MemoryError("no room for the answer")
        for each in outcomes:
            told.put(each)

    jobs = [job(pool("one.0")), job(pool("two.0"))]
    with running(jobs, deliver, num_threads=1):
        for expected in jobs:
            answered, refusal = told.get(timeout=30)
            assert answered is expected
            assert isinstance(refusal, PeerRefused)
            assert "its server's log says why" in refusal.reason
    assert "no room for the answer" in caplog.text


def test_a_request_that_cannot_be_unpacked_does_not_take_others_with_it(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise MemoryError("no room for the request")

    backend = ExpertBackend(parse_uid("one.0"), Calling(lambda: None), (torch.zeros(1, 1),), max_batch_size=4)
    both = Pool(backend, is_backward=False)
    bad, good = job(both, fail), job(both)
    waiting = WorkQueue()
    waiting.put(bad)
    waiting.put(good)
    batch = waiting.take()
    assert batch is not None
    assert batch.rows == 2
    outcomes = {id(each): outcome for each, outcome in Engine(waiting, Meter()).compute(batch, Stage())}
    assert isinstance(outcomes[id(bad)], PeerRefused)
    assert isinstance(outcomes[id(good)], list)
    assert "no room for the request" in caplog.text


def test_a_job_of_which_one_batch_was_lost_is_refused_once_and_not_computed_further() -> None:
    told: queue.Queue[Outcome] = queue.Queue()
    num_computed = 0

    def compute() -> None:
        nonlocal num_computed
        num_computed += 1

    def deliver(outcomes: list[Outcome]) -> None:
        if not outcomes:  # of the first row of two
            raise MemoryError
        for each in outcomes:
            told.put(each)

    where = pool("one.0", compute)
    long, after = job(where), job(where)
    long.rows = 2
    long.unpack = lambda: [torch.zeros(2, 1)]
    with running([long, after], deliver, num_threads=1):
        first, second = told.get(timeout=30), told.get(timeout=30)
    assert [first[0], second[0]] == [long, after]
    assert isinstance(first[1], PeerRefused)
    assert not isinstance(second[1], PeerRefused)
    assert num_computed == 2
