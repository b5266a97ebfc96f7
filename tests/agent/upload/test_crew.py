"""A few threads for many jobs: none is lost, none waits for another's sleep, none runs twice at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from strobe.agent.upload.crew import Crew
from tests.agent.scene import wait_for


class Steps:
    """A job of so many steps, each of which may take or wait for a while."""

    def __init__(self, num_steps: int, *, takes_s: float = 0.0, waits_s: float = 0.0) -> None:
        self.left = num_steps
        self.is_running = False
        self.collisions = 0
        self.takes_s, self.waits_s = takes_s, waits_s
        self.before: Callable[[], None] = lambda: None

    def advance(self) -> float | None:
        self.collisions += self.is_running
        self.is_running = True
        self.before()
        time.sleep(self.takes_s)
        self.left -= 1
        self.is_running = False
        return None if self.left <= 0 else self.waits_s


def num_threads() -> int:
    return sum(thread.name == "strobe-upload" for thread in threading.enumerate())


def test_all_jobs_are_done_by_a_few_threads_that_go_afterwards() -> None:
    done: list[object] = []
    crew = Crew(lambda job: None, done=done.append, size=3)
    jobs = [Steps(5, takes_s=0.002) for _ in range(30)]
    for job in jobs:
        crew.add(job)
    most = 0

    def all_done() -> bool:
        nonlocal most
        most = max(most, num_threads())
        return len(done) == 30

    wait_for(all_done)
    assert most <= 3
    assert all(job.collisions == 0 for job in jobs)
    wait_for(lambda: num_threads() == 0)
    crew.add(last := Steps(1))  # and come again with the next job
    wait_for(lambda: last.left == 0)


def test_a_job_that_hangs_delays_the_others_of_no_other_thread() -> None:
    crew = Crew(lambda job: None, size=2)
    crew.add(Steps(1, takes_s=1.0))
    began = time.monotonic()
    quick = [Steps(3) for _ in range(10)]
    for job in quick:
        crew.add(job)
    wait_for(lambda: all(job.left == 0 for job in quick))
    assert time.monotonic() - began < 0.9
    crew.close()


def test_waits_are_kept() -> None:
    crew = Crew(lambda job: None)
    job = Steps(4, waits_s=0.1)
    began = time.monotonic()
    crew.add(job)
    wait_for(lambda: job.left == 0)
    assert time.monotonic() - began >= 0.3
    crew.close()


def test_what_a_job_raises_is_reported_and_it_is_tried_again_later() -> None:
    failed: list[object] = []
    crew = Crew(failed.append)
    job = Steps(1)

    def burst() -> None:
        raise ValueError("a fault")

    job.before = burst
    crew.add(job)
    other = Steps(2)
    crew.add(other)
    wait_for(lambda: failed == [job] and other.left == 0)
    assert job.left == 1
    crew.close()


def test_a_closed_crew_begins_nothing_more() -> None:
    crew = Crew(lambda job: None)
    job = Steps(10_000)
    crew.add(job)
    crew.close()
    wait_for(lambda: num_threads() == 0)
    left = job.left
    time.sleep(0.05)
    assert job.left == left
