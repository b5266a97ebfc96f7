"""Peak memory without that of the reference: of this process, and of a card by a stand-in of torch.cuda."""

from __future__ import annotations

import pytest

from strobe.bench.records import Repeat
from strobe.bench.runner.memory import PeakCardMemory
from strobe.bench.runner.message import Outcome
from strobe.bench.runner.process import join_ranks
from strobe.bench.workload import Work


class Cuda:
    """Remembers the most that was held on a card since it was told to start anew."""

    def __init__(self) -> None:
        self.held = self.peak = 0

    def hold(self, size: int) -> None:
        self.held = size
        self.peak = max(self.peak, size)

    def max_memory_allocated(self, device: str) -> int:
        assert device == "cuda:1"
        return self.peak

    def reset_peak_memory_stats(self, device: str) -> None:
        assert device == "cuda:1"
        self.peak = self.held


@pytest.mark.parametrize(("later", "expected"), [(50, 100), (300, 300)])
def test_the_peak_of_a_card_does_not_have_the_reference_in_it(later: int, expected: int) -> None:
    cuda = Cuda()
    memory = PeakCardMemory(cuda, "cuda:1")
    cuda.hold(100)
    memory.pause()
    cuda.hold(1_000)
    cuda.hold(20)
    memory.resume()
    cuda.hold(later)
    assert memory.read_bytes() == expected


def _outcome(card_bytes: int | None) -> Outcome:
    repeat = Repeat(wall_s=(1.0,), cpu_s=(1.0,), peak_rss_bytes=5, peak_card_bytes=card_bytes)
    return Outcome(repeat=repeat, work=Work(examples=1, flops=1, bytes=1))


def test_cards_of_all_ranks_are_summed_and_none_is_none() -> None:
    assert join_ranks([_outcome(30), _outcome(12)]).repeat.peak_card_bytes == 42
    assert join_ranks([_outcome(None), _outcome(None)]).repeat.peak_card_bytes is None
