from __future__ import annotations

import gc
import time

from strobe.swarm.net.buffers import Buffers

SIZE = 1 << 20


def test_memory_that_somebody_holds_is_never_given_to_another() -> None:
    buffers = Buffers()
    held = [buffers.take(SIZE) for _ in range(4)]
    parts = [view[10:20] for view in held]
    for i, view in enumerate(held):
        view[:] = bytes([i]) * SIZE
    del held, view
    for _ in range(20):
        other = buffers.take(SIZE)
        other[:] = b"x" * SIZE
    assert [bytes(part) for part in parts] == [bytes([i]) * 10 for i in range(4)]


def test_memory_that_nobody_holds_is_used_again() -> None:
    buffers = Buffers()
    first = buffers.take(SIZE)
    first[0] = 77
    obj = first.obj
    del first
    gc.collect()
    again = buffers.take(SIZE - 1000)
    assert again.obj is obj
    assert (len(again), again[0]) == (SIZE - 1000, 77)
    assert buffers.take(SIZE).obj is not obj


def test_what_is_not_wanted_for_a_while_is_given_back() -> None:
    buffers = Buffers()
    obj = buffers.take(SIZE).obj
    buffers.sweep()
    assert buffers.take(SIZE).obj is obj
    buffers.sweep()
    buffers.sweep()
    assert buffers.take(SIZE).obj is not obj


def test_buffers_are_bounded() -> None:
    buffers = Buffers()
    held = [buffers.take(SIZE * 12 + i) for i in range(12)]
    assert sum(map(len, buffers._known)) <= 128 << 20
    del held
    for size in range(300_000, 600_000, 10_000):
        buffers.take(size)
    assert len(buffers._known) <= 16


def test_memory_that_is_not_written_to_is_not_cleared_either() -> None:
    """Else whoever announces 256 MB, and again, keeps the loop from everything else."""
    buffers, began = Buffers(), time.process_time()
    for _ in range(100):
        buffers.take(256 << 20)
    assert time.process_time() - began < 1
