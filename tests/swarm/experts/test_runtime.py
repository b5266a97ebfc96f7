"""The threads that compute: never idle while work waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import nn

from strobe.swarm.experts import ExpertBackend, parse_uid
from strobe.swarm.experts.engine import Engine, Outcome
from strobe.swarm.experts.meter import Meter
from strobe.swarm.experts.runtime import Runtime
from strobe.swarm.experts.work import Job, Pool, WorkQueue
from strobe.swarm.net.network import PeerId

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

    return Job(where, CLIENT, 1, unpack, lambda: False)


@contextmanager
def running(jobs: list[Job], deliver: Callable[[list[Outcome]], None], num_threads: int) -> Iterator[None]:
    """Compute jobs that wait from the beginning."""
    queue = WorkQueue()
    for each in jobs:
        queue.put(each)
    runtime = Runtime(queue, Engine(queue, Meter()), deliver, num_threads=num_threads)
    runtime.start()
    try:
        yield
    finally:
        queue.close()
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
