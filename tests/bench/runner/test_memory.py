"""Memory of workers: what is available, of whole trees of processes, and of the cards of all ranks."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from strobe.agent import cgroup
from strobe.bench.records import Repeat
from strobe.bench.runner import memory
from strobe.bench.runner.memory import TreeMemory, available_bytes, descendants
from strobe.bench.runner.message import Outcome
from strobe.bench.runner.process import join_ranks
from strobe.bench.workload import Work


def _outcome(card_bytes: int | None) -> Outcome:
    repeat = Repeat(wall_s=(1.0,), cpu_s=(1.0,), peak_rss_bytes=5, peak_card_bytes=card_bytes)
    return Outcome(repeat=repeat, work=Work(examples=1, flops=1, bytes=1))


def test_cards_of_all_ranks_are_summed_and_none_is_none() -> None:
    assert join_ranks([_outcome(30), _outcome(12)]).repeat.peak_card_bytes == 42
    assert join_ranks([_outcome(None), _outcome(None)]).repeat.peak_card_bytes is None


FAMILY = """
import os, time
eaten = b"1" * 200_000_000
for _ in range(2):
    if os.fork() == 0:
        break
os.write(1, b"%d\\n" % os.getpid())  # in one piece: three write at once
time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what pages processes share")
def test_memory_is_that_of_a_family_and_what_they_share_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    parent = subprocess.Popen([sys.executable, "-c", FAMILY], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    family: list[int] = []
    try:
        family = [int(parent.stdout.readline()) for _ in range(3)]
        assert sorted([parent.pid, *descendants(parent.pid)]) == sorted(family)
        watch = TreeMemory([parent.pid], clock=lambda: now)
        assert sum(psutil.Process(pid).memory_info().rss for pid in family) > 600_000_000
        assert watch.above(400_000_000) is None
        assert 200_000_000 < (watch.above(100_000_000) or 0) < 400_000_000
        # Counting takes long, and is done again only for what was not shared before, or after a while.
        with monkeypatch.context() as patch:
            patch.setattr(memory, "_proportional_bytes", lambda pid: 300_000_000)
            assert watch.above(400_000_000) is None
            now = 1.0
            assert watch.above(400_000_000) == 900_000_000
    finally:
        for pid in family:
            psutil.Process(pid).kill()
        parent.wait()
        parent.stdout.close()


def test_a_process_that_is_gone_has_no_memory_and_no_children() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert descendants(gone.pid) == []
    assert TreeMemory([gone.pid]).above(0) is None


@pytest.mark.parametrize(("room", "expected"), [(1_000, 1_000), (1 << 60, None), (None, None)])
def test_what_a_container_may_have_is_all_that_is_available(
    room: int | None, expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Machine:
        available = 5_000_000

    monkeypatch.setattr(cgroup, "free_bytes", lambda pid: room)
    monkeypatch.setattr(psutil, "virtual_memory", Machine)
    assert available_bytes() == (expected or 5_000_000)


def test_without_the_kernels_lists_children_are_found_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        monkeypatch.setattr(memory, "_has_children_files", lambda: False)
        assert child.pid in descendants(psutil.Process().pid)
    finally:
        child.communicate()
