"""Which requests are computed next, and together: order, fairness, cutting, and no room."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strobe.swarm.experts import ExpertBackend, parse_uid
from strobe.swarm.experts.registry import expert_kind
from strobe.swarm.experts.work import Batch, Job, Pool, WorkQueue
from strobe.swarm.net.network import PeerBusy, PeerId

pytestmark = pytest.mark.frameworks


def client(name: str) -> PeerId:
    return PeerId(name.encode().ljust(20))


def pool(uid: str = "nop.0", max_batch_size: int = 8) -> Pool:
    backend = ExpertBackend.build(parse_uid(uid), expert_kind("nop"), 4, max_batch_size=max_batch_size)
    return Pool(backend, is_backward=False)


def job(where: Pool, rows: int, who: str = "ann") -> Job:
    return Job(where, client(who), rows, list)


def taken(queue: WorkQueue) -> Batch:
    batch = queue.take()
    assert batch is not None
    queue.done(batch, 0.1)
    return batch


def slices(batch: Batch) -> list[tuple[Job, int, int]]:
    return [(part.job, part.start, part.stop) for part in batch.slices]


def test_requests_of_one_expert_are_computed_together_up_to_the_limit() -> None:
    queue, here = WorkQueue(), pool()
    jobs = [job(here, rows, who) for rows, who in [(3, "ann"), (4, "bob"), (2, "cid"), (1, "dan")]]
    for each in jobs:
        queue.put(each)
    # The third does not fit: it goes whole with the next batch rather than in two pieces.
    assert slices(taken(queue)) == [(jobs[0], 0, 3), (jobs[1], 0, 4)]
    assert slices(taken(queue)) == [(jobs[2], 0, 2), (jobs[3], 0, 1)]
    assert (queue.num_waiting, queue.rows_waiting) == (0, 0)


def test_the_expert_with_the_oldest_request_is_next() -> None:
    queue, first, second = WorkQueue(), pool("nop.1"), pool("nop.2")
    a, b, c = job(second, 1, "ann"), job(first, 1, "bob"), job(second, 1, "cid")
    for each in (a, b, c):
        queue.put(each)
    assert slices(taken(queue)) == [(a, 0, 1), (c, 0, 1)]
    assert slices(taken(queue)) == [(b, 0, 1)]


def test_a_request_larger_than_a_batch_is_cut_and_its_rest_shares() -> None:
    queue, here = WorkQueue(), pool()
    large, small = job(here, 20, "ann"), job(here, 3, "bob")
    queue.put(large)
    queue.put(small)
    assert slices(taken(queue)) == [(large, 0, 8)]
    assert slices(taken(queue)) == [(small, 0, 3), (large, 8, 13)]
    assert slices(taken(queue)) == [(large, 13, 20)]


def test_one_large_request_does_not_hold_up_other_clients() -> None:
    queue, here, there = WorkQueue(), pool("nop.1"), pool("nop.2")
    queue.put(job(here, 800, "greedy"))
    taken(queue)
    for _ in range(3):  # at every expert, as often as they come
        for where in (here, there):
            modest = job(where, 1, "modest")
            queue.put(modest)
            assert taken(queue).slices[0].job is modest


def test_a_client_with_much_waits_behind_its_own_requests_only() -> None:
    queue, here = WorkQueue(), pool(max_batch_size=1)
    greedy = [job(here, 1, "greedy") for _ in range(10)]
    for each in greedy:
        queue.put(each)
    assert taken(queue).slices[0].job is greedy[0]
    modest = [job(here, 1, "modest") for _ in range(3)]
    for each in modest:
        queue.put(each)
    order = [taken(queue).slices[0].job for _ in range(12)]
    # They take turns from the moment on at which the second one came.
    assert [each.client for each in order[:6]].count(client("modest")) == 3


def test_requests_nobody_waits_for_cost_nothing() -> None:
    queue, here = WorkQueue(), pool()
    unwanted, wanted = job(here, 5), job(here, 2, "bob")
    queue.put(unwanted)
    queue.put(wanted)
    queue.drop(unwanted)
    queue.drop(unwanted)  # once is enough
    assert (queue.num_waiting, queue.rows_waiting) == (1, 2)
    assert slices(taken(queue)) == [(wanted, 0, 2)]
    assert (queue.num_waiting, queue.rows_waiting) == (0, 0)


def test_a_request_that_is_dropped_half_way_holds_nothing_though_its_expert_is_busy() -> None:
    queue, here = WorkQueue(), pool()
    large = job(here, 20)
    queue.put(large)
    batch = queue.take()
    assert batch is not None
    queue.drop(large)
    assert slices(batch) == [(large, 0, 8)]  # that goes on
    assert (queue.num_waiting, queue.rows_waiting) == (0, 0)
    assert here.waiting == []
    queue.done(batch, 0.1)
    queue.drop(large)
    later = job(here, 1)
    queue.put(later)
    assert slices(taken(queue)) == [(later, 0, 1)]


def test_an_expert_is_used_by_one_thread_at_a_time() -> None:
    queue, here, there = WorkQueue(), pool("nop.1", 1), pool("nop.2", 1)
    for each in (job(here, 1), job(here, 1), job(there, 1)):
        queue.put(each)
    first, second = queue.take(), queue.take()
    assert first is not None
    assert second is not None
    assert {first.pool, second.pool} == {here, there}
    got: list[Batch | None] = []
    waiter = threading.Thread(target=lambda: got.append(queue.take()))
    waiter.start()
    waiter.join(0.05)
    assert waiter.is_alive()
    queue.done(first, 0.1)
    waiter.join(5)
    assert got[0] is not None
    assert got[0].pool is here


def test_when_there_is_no_room_clients_are_told_when_to_come_again() -> None:
    queue, here = WorkQueue(max_waiting=4), pool(max_batch_size=1)
    queue.put(job(here, 1, "ann"))
    taken(queue)  # ten rows a second
    for _ in range(2):
        queue.put(job(here, 1, "ann"))
    # From half on everybody gets a share: ann has hers, bob finds room.
    with pytest.raises(PeerBusy, match="this client's") as busy:
        queue.put(job(here, 1, "ann"))
    assert busy.value.retry_after_s == pytest.approx(0.2)
    queue.put(job(here, 1, "bob"))
    queue.put(job(here, 1, "cid"))
    with pytest.raises(PeerBusy, match="4 requests wait"):
        queue.put(job(here, 1, "dan"))


def test_closing_ends_the_waiting_and_returns_what_is_left() -> None:
    queue, here = WorkQueue(), pool()
    waiter = threading.Thread(target=queue.take)
    waiter.start()
    assert queue.close() == []
    waiter.join(5)
    assert not waiter.is_alive()
    with pytest.raises(PeerBusy):
        queue.put(job(here, 1))


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(1, 30), st.sampled_from(["ann", "bob"]), st.booleans())),
    st.integers(1, 10),
)
def test_every_row_is_computed_once_and_in_order(asked: list[tuple[int, int, str, bool]], max_batch_size: int) -> None:
    queue = WorkQueue()
    pools = [pool(f"nop.{number}", max_batch_size) for number in range(3)]
    jobs = [job(pools[where], rows, who) for where, rows, who, _ in asked]
    covered = dict.fromkeys(map(id, jobs), 0)
    for each, (_, _, _, take_one) in zip(jobs, asked, strict=True):
        queue.put(each)
        if take_one:
            _cover(taken(queue), covered, max_batch_size)
    while queue.num_waiting:
        _cover(taken(queue), covered, max_batch_size)
    assert [covered[id(each)] for each in jobs] == [each.rows for each in jobs]
    assert queue.rows_waiting == 0


def _cover(batch: Batch, covered: dict[int, int], max_batch_size: int) -> None:
    assert 0 < batch.rows <= max_batch_size
    assert batch.rows == sum(part.stop - part.start for part in batch.slices)
    for part in batch.slices:
        assert part.job.pool is batch.pool
        assert covered[id(part.job)] == part.start
        covered[id(part.job)] = part.stop


def test_only_a_quick_expert_that_nobody_waits_for_is_computed_without_a_turn() -> None:
    queue, here, there = WorkQueue(), pool("nop.1"), pool("nop.2")
    small = job(here, 2)
    assert queue.claim(small) is None  # nothing is known of it yet
    queue.put(job(here, 1))
    batch = queue.take()
    assert batch is not None
    queue.done(batch, 50e-6)
    claimed = queue.claim(small)
    assert claimed is not None
    assert slices(claimed) == [(small, 0, 2)]
    assert queue.claim(job(here, 2)) is None  # it is being used
    queue.put(job(there, 1))
    queue.done(claimed, 50e-6)
    assert queue.claim(job(here, 2)) is None  # somebody waits
    taken(queue)
    assert queue.claim(job(there, 2)) is None  # slow: it took a tenth of a second
    assert queue.claim(job(here, 9)) is None  # more than a batch
    for _ in range(3):  # fewer may be accidents
        last = queue.claim(job(here, 8))
        assert last is not None
        queue.done(last, 0.1)
    assert queue.claim(job(here, 1)) is None  # not quick any more
    queue.close()
